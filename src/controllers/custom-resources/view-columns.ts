import type { CustomResourceDefinition } from '../../api/types/apiextensions/v1.ts';
import { type Action, JsonPathError, parseTemplate, type Step } from '../../object/json-path-syntax.ts';
import type { ViewColumn } from '../../storage/object-views.ts';

/** Most columns of its own that a view has; column `object` has everything else. */
const MAX_COLUMNS = 300;
/** PostgreSQL cuts longer names off. */
const MAX_NAME_BYTES = 63;
/** Columns of every view. */
const USUAL_NAMES = ['namespace', 'name', 'object'];
const TYPES: readonly string[] = ['integer', 'number', 'boolean', 'date'] satisfies ViewColumn['type'][];

/**
 * The printer columns of the stored version as columns of SQL, with names that need no quotes: `Ready Replicas` is
 * `ready_replicas`. Columns whose path SQL does not know are left out.
 */
export function toViewColumns({ spec }: CustomResourceDefinition): ViewColumn[] {
  const stored = (spec?.versions ?? []).find(({ storage }) => storage === true);
  const taken = new Set(USUAL_NAMES);
  const columns: ViewColumn[] = [];
  for (const { name = '', type = '', jsonPath = '' } of stored?.additionalPrinterColumns ?? []) {
    const place = columns.length < MAX_COLUMNS ? toPlace(jsonPath) : undefined;
    if (place === undefined) continue;
    columns.push({ name: nameOf(name, taken), type: toType(type), ...place });
  }
  return columns;
}

const toType = (type: string): ViewColumn['type'] => (isType(type) ? type : 'string');
const isType = (type: string): type is ViewColumn['type'] => TYPES.includes(type);

/** Changes `taken`. */
function nameOf(shown: string, taken: Set<string>): string {
  const words = shown
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
  const name = /^\p{L}/u.test(words) ? words : `column_${words}`.replace(/_$/, '');
  let unique = shortened(name, MAX_NAME_BYTES);
  for (let n = 2; taken.has(unique); n += 1)
    unique = `${shortened(name, MAX_NAME_BYTES - `_${n}`.length)}_${n}`;
  taken.add(unique);
  return unique;
}

function shortened(text: string, maxBytes: number): string {
  let short = text;
  while (Buffer.byteLength(short) > maxBytes) short = [...short].slice(0, -1).join('');
  return short;
}

type Place = Pick<ViewColumn, 'path' | 'item'>;

/** Fields, indexes, and one condition of the form `[?(@.type=="Ready")]`. */
function toPlace(jsonPath: string): Place | undefined {
  const steps = readSteps(jsonPath);
  const filterAt = steps.findIndex(({ kind }) => kind === 'filter');
  const path = toKeys(steps.slice(filterAt + 1));
  if (path === undefined || filterAt < 0) return path?.length === 0 ? undefined : path && { path };
  const list = toKeys(steps.slice(0, filterAt));
  const condition = toCondition(steps[filterAt]);
  return list === undefined || condition === undefined
    ? undefined
    : { path, item: { path: list, ...condition } };
}

/** Returns no steps for an invalid path. */
function readSteps(jsonPath: string): Action {
  try {
    const actions = parseTemplate(`{${jsonPath}}`);
    return actions.length === 1 ? (actions[0] ?? []) : [];
  } catch (error) {
    if (error instanceof JsonPathError) return [];
    throw error;
  }
}

function toKeys(steps: Action): string[] | undefined {
  const keys = steps.map(toKey);
  return keys.every((key) => key !== undefined) ? keys : undefined;
}

function toKey(step: Step): string | undefined {
  if (step.kind === 'field') return isStorable(step.name) ? step.name : undefined;
  if (step.kind !== 'slice' || !step.bounds.isIndex) return undefined;
  const { from } = step.bounds;
  return from === undefined ? undefined : String(from);
}

function toCondition(step: Step | undefined): { key: string; value: string } | undefined {
  if (step?.kind !== 'filter' || step.operator !== '==') return undefined;
  const key = step.left.length === 1 ? step.left[0] : undefined;
  const value = step.right.length === 1 ? step.right[0] : undefined;
  if (key?.kind !== 'field' || value?.kind !== 'text') return undefined;
  return isStorable(key.name) && isStorable(value.text) ? { key: key.name, value: value.text } : undefined;
}

/** PostgreSQL stores only whole characters, and no zero byte. */
const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');
