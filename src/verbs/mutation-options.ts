import { badRequest, type FieldError, invalid } from '../api/status.ts';
import {
  boundedProblems,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  tooLong,
} from '../object/field-errors.ts';
import { goText, goValue } from '../object/go-value.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { readBoolean, readString } from './query-options.ts';
import { dryRunProblems } from './writing/deletion.ts';

const FIELD_VALIDATIONS = ['Ignore', 'Strict', 'Warn'] as const;
export type FieldValidation = (typeof FIELD_VALIDATIONS)[number];

const isFieldValidation = (text: string): text is FieldValidation =>
  FIELD_VALIDATIONS.some((known) => known === text);

/** Options of create, update and patch. */
export interface MutationOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** For apply only. */
  readonly force: boolean;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const MAX_MANAGER_CHARS = 128;

/** @throws StatusError 422 of the kind given */
export function readMutationOptions(request: ApiRequest, kind: OptionsKind, apply = false): MutationOptions {
  const { query } = request;
  const errors: FieldError[] = [];
  const fieldValidation = readString(query, 'fieldValidation');
  const fieldManager = readString(query, 'fieldManager');
  if (fieldValidation !== '' && !isFieldValidation(fieldValidation)) {
    errors.push(notSupported('fieldValidation', fieldValidation, ['', ...FIELD_VALIDATIONS]));
  }
  // Each invalid character repeats the whole name, so that problems are bounded.
  errors.push(...boundedProblems(() => checkFieldManager(fieldManager)), ...checkDryRun(query));
  if (kind === 'PatchOptions' && !apply && query.has('force')) {
    errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
  }
  if (apply && fieldManager === '') errors.push(required('fieldManager', 'is required for apply patch'));
  if (errors.length > 0) throw invalid({ kind, group: 'meta.k8s.io' }, '', errors);
  return {
    dryRun: isDryRun(query),
    fieldManager: fieldManager === '' ? managerFromUserAgent(request.userAgent) : fieldManager,
    // Kubernetes warns by default.
    fieldValidation: isFieldValidation(fieldValidation) ? fieldValidation : 'Warn',
    force: readBoolean(query, 'force') ?? false,
  };
}

/** `?dryRun` and `?dryRun=` have no effect: the request is real. */
export function isDryRun(query: URLSearchParams): boolean {
  return query.getAll('dryRun').includes('All');
}

/** The values that mean nothing. */
export const unknownDryRuns = (values: readonly unknown[]): string[] =>
  values.map(String).filter((value) => value !== 'All' && value !== '');

const checkDryRun = (query: URLSearchParams): FieldError[] =>
  dryRunProblems(unknownDryRuns(query.getAll('dryRun')));

function checkFieldManager(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (manager.length > MAX_MANAGER_CHARS) {
    errors.push(tooLong('fieldManager', MAX_MANAGER_CHARS));
  }
  if (isPrintable(manager)) return errors;
  // Written once, because each error shows all of it.
  const shown = goText(goValue(manager));
  for (const [at, char] of [...manager].entries()) {
    if (isPrintable(char)) continue;
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    errors.push(invalidValue('fieldManager', shown, `invalid character U+${code} (at position ${at})`));
  }
  return errors;
}

const isPrintable = (text: string): boolean => !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);

/** A cluster has few programs: finding a name here is faster than checking its characters again. */
const managers = new Map<string, string>();
const MAX_MANAGERS = 1000;

/** `kubectl/v1.31.0 (linux/amd64) …` → `kubectl`. */
export function managerFromUserAgent(userAgent: string): string {
  const [prefix = ''] = userAgent.split('/', 1);
  let manager = managers.get(prefix);
  if (manager === undefined) {
    manager = [...prefix].filter(isPrintable).join('').slice(0, MAX_MANAGER_CHARS);
    if (managers.size >= MAX_MANAGERS) managers.clear();
    if (prefix.length <= MAX_MANAGER_CHARS) managers.set(prefix, manager);
  }
  return manager;
}

/** Checks that the body names the object of the path. @throws StatusError 400 */
export function checkNameMatches(objectName: string | undefined, pathName: string): void {
  if (objectName === pathName) return;
  if (objectName === undefined || objectName === '') {
    throw badRequest(
      `the name of the object (${pathName} based on URL) was undeterminable: name must be provided`,
    );
  }
  throw badRequest(`the name of the object (${objectName}) does not match the name on the URL (${pathName})`);
}
