import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { ValueSchema } from '../api/schema.ts';
import { isObject } from '../object/json-values.ts';
import { Pace, type Steps } from '../util/turns.ts';

/**
 * Formats the path of a field, and splits a value into parts. SQL functions (path_of and parts_of, in migrations/) do the same, but without
 * schemas, which may name the merge keys of a list.
 *
 *   spec.containers[name=web].image
 *   metadata.annotations["a.example/b"]
 *   spec.ports[port=80,protocol=TCP]      by two keys
 *   spec.rules[0]                         by place, where no keys identify the elements
 */

const PLAIN = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export function fieldPath(parent: string, name: string): string {
  if (!PLAIN.test(name)) return `${parent}[${JSON.stringify(name)}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

/** Whether `path` is `ancestor`, or below it. */
export const isWithin = (path: string, ancestor: string): boolean =>
  ancestor === '' ||
  path === ancestor ||
  (path.startsWith(ancestor) && (path[ancestor.length] === '.' || path[ancestor.length] === '['));

/** Fields that identify the elements of lists, the best first. Kubernetes merges such lists by most of them. */
const USUAL_KEYS: readonly (readonly string[])[] = [
  ['name'],
  ['type'],
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['mountPath'],
  ['devicePath'],
  ['topologyKey', 'whenUnsatisfiable'],
  ['key'],
  ['ip'],
  ['uid'],
  ['id'],
  ['containerPort'],
  ['port'],
  ['host'],
  ['path'],
];

/** A value in an object, with its type where that is known. */
export interface Typed {
  readonly value: JsonValue;
  readonly schema: ValueSchema | undefined;
  /** The merge keys of a list, where its type has them. */
  readonly keys: readonly string[] | undefined;
}

export const rootOf = (value: JsonValue, schema: ValueSchema | undefined): Typed => ({
  value,
  schema,
  keys: undefined,
});

/** Whether a value is compared by its parts: a non-empty object, or a list of objects. */
export function hasParts(value: JsonValue | undefined): value is JsonObject | JsonObject[] {
  if (Array.isArray(value)) return value.length > 0 && value.every(isObject);
  return isObject(value) && !isEmpty(value);
}

function isEmpty(object: JsonObject): boolean {
  for (const _ in object) return false;
  return true;
}

/** The fields that all elements have, with different values within each list; those of the schema first. Undefined: none. */
export function* keysOf(
  lists: readonly (readonly JsonObject[])[],
  known: readonly string[] | undefined,
  pace = new Pace(),
): Steps<readonly string[] | undefined> {
  const candidates = known === undefined ? USUAL_KEYS : [known, ...USUAL_KEYS];
  for (const fields of candidates) {
    let isKey = true;
    for (const list of lists) isKey &&= yield* tellApart(list, fields, pace);
    if (isKey) return fields;
  }
  return undefined;
}

function* tellApart(list: readonly JsonObject[], fields: readonly string[], pace: Pace): Steps<boolean> {
  const seen = new Set<string>();
  for (const element of list) {
    if (pace.isOver()) yield* pace.pass();
    if (!fields.every((field) => Object.hasOwn(element, field) && isPlain(element[field]))) return false;
    seen.add(keyText(element, fields));
  }
  return seen.size === list.length;
}

/** Objects and lists cannot be keys. */
const isPlain = (value: JsonValue | undefined): boolean => typeof value !== 'object' || value === null;

/** `port=80,protocol=TCP`; '' where all of them are null. */
const keyText = (element: JsonObject, fields: readonly string[]): string =>
  fields
    .filter((field) => element[field] !== null)
    .map((field) => `${field}=${toText(element[field])}`)
    .join(',');

const toText = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** The parts of a value with their paths, in its order. `keys`: merge keys of a list ({@link keysOf}). */
export function* partsOf(
  parent: string,
  { value, schema }: Typed,
  keys: readonly string[] | undefined,
  pace = new Pace(),
): Steps<Map<string, Typed>> {
  const parts = new Map<string, Typed>();
  if (Array.isArray(value)) {
    const items = schema?.kind === 'list' ? schema.items : undefined;
    for (const [place, element] of value.entries()) {
      if (pace.isOver()) yield* pace.pass();
      const text = keys === undefined || !isObject(element) ? '' : keyText(element, keys);
      const path = `${parent}[${text === '' ? place : text}]`;
      parts.set(path, { value: element, schema: items, keys: undefined });
    }
  } else if (isObject(value)) {
    for (const name in value) {
      if (pace.isOver()) yield* pace.pass();
      const part = value[name];
      if (part !== undefined) parts.set(fieldPath(parent, name), typedField(part, name, schema));
    }
  }
  return parts;
}

export function typedField(value: JsonValue, name: string, schema: ValueSchema | undefined): Typed {
  if (schema?.kind === 'map') return { value, schema: schema.values, keys: undefined };
  if (schema?.kind !== 'message') return { value, schema: undefined, keys: undefined };
  const field = schema.message.fields.get(name);
  if (field === undefined) return { value, schema: undefined, keys: undefined };
  const { listType, listMapKeys, patchMergeKey } = field;
  const keys =
    listType === 'map' && listMapKeys.length > 0
      ? listMapKeys
      : patchMergeKey === undefined || patchMergeKey === ''
        ? undefined
        : [patchMergeKey];
  return { value, schema: field.value, keys };
}
