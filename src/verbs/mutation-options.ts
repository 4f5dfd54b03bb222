import { badRequest, type FieldError, invalid } from '../api/status.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { readString } from './query-values.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

/** Options of create, update and patch. */
export interface MutationOptions {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
}

type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';

const MAX_MANAGER_CHARS = 128;

/** @throws StatusError 422 of the kind given */
export function readMutationOptions(request: ApiRequest, kind: OptionsKind): MutationOptions {
  const { query } = request;
  const errors: FieldError[] = [];
  const fieldValidation = readString(query, 'fieldValidation');
  const fieldManager = readString(query, 'fieldManager');
  if (!['', 'Ignore', 'Strict', 'Warn'].includes(fieldValidation)) {
    errors.push({
      type: 'FieldValueNotSupported',
      field: 'fieldValidation',
      message: `Unsupported value: ${JSON.stringify(fieldValidation)}: supported values: "", "Ignore", "Strict", "Warn"`,
    });
  }
  errors.push(...checkFieldManager(fieldManager), ...checkDryRun(query));
  if (kind === 'PatchOptions' && query.has('force')) {
    const message = 'Forbidden: may not be specified for non-apply patch';
    errors.push({ type: 'FieldValueForbidden', field: 'force', message });
  }
  if (errors.length > 0) throw invalid({ kind, group: 'meta.k8s.io' }, '', errors);
  return {
    dryRun: isDryRun(query),
    fieldManager: fieldManager === '' ? managerFromUserAgent(request.userAgent) : fieldManager,
    // Kubernetes warns unless told otherwise.
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
  };
}

/** `?dryRun` and `?dryRun=` ask for nothing: the request is real. */
export function isDryRun(query: URLSearchParams): boolean {
  return query.getAll('dryRun').includes('All');
}

export function checkDryRun(query: URLSearchParams): FieldError[] {
  const unknown = query.getAll('dryRun').filter((value) => value !== 'All' && value !== '');
  if (unknown.length === 0) return [];
  const message = `Unsupported value: ${JSON.stringify(unknown[0])}: supported values: "All"`;
  return [{ type: 'FieldValueNotSupported', field: 'dryRun', message }];
}

function checkFieldManager(manager: string): FieldError[] {
  const errors: FieldError[] = [];
  if (manager.length > MAX_MANAGER_CHARS) {
    errors.push({
      type: 'FieldValueTooLong',
      field: 'fieldManager',
      message: `Too long: may not be more than ${MAX_MANAGER_CHARS} bytes`,
    });
  }
  const unprintable = [...manager].findIndex((char) => !isPrintable(char));
  if (unprintable >= 0) {
    const message = `Invalid value: ${JSON.stringify(manager)}: should only contain printable characters`;
    errors.push({ type: 'FieldValueInvalid', field: 'fieldManager', message });
  }
  return errors;
}

const isPrintable = (char: string): boolean => !/[\p{C}\p{Zl}\p{Zp}]/u.test(char);

/** `kubectl/v1.31.0 (linux/amd64) …` → `kubectl`. */
export function managerFromUserAgent(userAgent: string): string {
  const [prefix = ''] = userAgent.split('/', 1);
  return [...prefix].filter(isPrintable).join('').slice(0, MAX_MANAGER_CHARS);
}

/** The object in a body must be the one the path names. @throws StatusError 400 */
export function checkNameMatches(objectName: string | undefined, pathName: string): void {
  if (objectName === pathName) return;
  if (objectName === undefined || objectName === '') {
    throw badRequest('the name of the object (based on URL) was undeterminable: name must be provided');
  }
  throw badRequest(`the name of the object (${objectName}) does not match the name on the URL (${pathName})`);
}
