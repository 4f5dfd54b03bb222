import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { ValueSchema } from '../api/schema.ts';
import { equal } from '../object/equality.ts';
import { isObject } from '../object/json-values.ts';
import { Pace, type Steps } from '../util/turns.ts';
import { fieldPath, hasParts, keysOf, partsOf, rootOf, type Typed, typedField } from './field-paths.ts';

/** One field that differs between two states of an object. Undefined: the field is absent. The path '' is the whole object. */
export interface FieldChange {
  readonly path: string;
  readonly old: JsonValue | undefined;
  readonly new: JsonValue | undefined;
}

export interface Changes {
  readonly changes: readonly FieldChange[];
  /** Further changes were left out. */
  readonly isTruncated: boolean;
}

/** Most changes reported of one revision. Larger updates are rare, and both states can be read in full. */
const MAX_CHANGES = 1000;

interface Pair {
  readonly path: string;
  readonly was: Typed | undefined;
  readonly becomes: Typed | undefined;
}

/**
 * Compares two states of an object, in its order: fields of the old state first, then new ones. Ignores managed fields
 * and the resourceVersion. Lists of plain values change as a whole. Undefined: there is no such state.
 */
export function* changesBetween(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  schema?: ValueSchema,
  most = MAX_CHANGES,
): Steps<Changes> {
  const changes: FieldChange[] = [];
  const pace = new Pace();
  const left: Pair[] = [{ path: '', was: toRoot(before, schema), becomes: toRoot(after, schema) }];
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    if (pace.isOver()) yield* pace.pass();
    const { path, was, becomes } = pair;
    if (was !== undefined && becomes !== undefined) {
      if (equal(was.value, becomes.value)) continue;
      if (areAlike(was.value, becomes.value)) {
        yield* addParts(left, pair, pace);
        continue;
      }
    } else if (was === becomes) continue;
    if (changes.length === most) return { changes, isTruncated: true };
    changes.push({ path, old: was?.value, new: becomes?.value });
  }
  return { changes, isTruncated: false };
}

/** Whether both values have parts of the same kind. */
const areAlike = (was: JsonValue, becomes: JsonValue): boolean =>
  Array.isArray(was) === Array.isArray(becomes) && hasParts(was) && hasParts(becomes);

/** Adds the parts in which two alike values differ to the stack, the first of them last. */
function* addParts(left: Pair[], { path, was, becomes }: Pair, pace: Pace): Steps<void> {
  if (was === undefined || becomes === undefined) return;
  const parts: Pair[] = [];
  if (isObject(was.value) && isObject(becomes.value)) {
    const { value: old, schema } = was;
    const names = namesOf(old, becomes.value);
    if (pace.isOver(names.length)) yield* pace.pass();
    for (const name of names) {
      if (pace.isOver()) yield* pace.pass();
      if (equal(old[name], becomes.value[name])) continue;
      const at = fieldPath(path, name);
      parts.push({
        path: at,
        was: fieldOf(old, name, schema),
        becomes: fieldOf(becomes.value, name, schema),
      });
    }
  } else {
    const keys = yield* listKeys([was, becomes], pace);
    const before = yield* partsOf(path, was, keys, pace);
    const after = yield* partsOf(path, becomes, keys, pace);
    for (const [at, part] of before) parts.push({ path: at, was: part, becomes: after.get(at) });
    for (const [at, part] of after)
      if (!before.has(at)) parts.push({ path: at, was: undefined, becomes: part });
  }
  for (const part of parts.reverse()) left.push(part);
}

/** The names of both, those of the old one first. */
const namesOf = (was: JsonObject, becomes: JsonObject): string[] => [
  ...Object.keys(was),
  ...Object.keys(becomes).filter((name) => !Object.hasOwn(was, name)),
];

const fieldOf = (object: JsonObject, name: string, schema: ValueSchema | undefined): Typed | undefined => {
  const value = object[name];
  return value === undefined ? undefined : typedField(value, name, schema);
};

function* listKeys(states: readonly Typed[], pace: Pace): Steps<readonly string[] | undefined> {
  const lists = states.flatMap(({ value }) => (Array.isArray(value) ? [value.filter(isObject)] : []));
  return lists.length === 0 ? undefined : yield* keysOf(lists, states[0]?.keys, pace);
}

/** A field without parts. */
export interface Leaf {
  readonly path: string;
  readonly value: JsonValue;
}

/** All fields that have no parts, in the object's order. */
export function* leavesOf(object: JsonObject, schema?: ValueSchema): Steps<Leaf[]> {
  const leaves: Leaf[] = [];
  const pace = new Pace();
  const root = toRoot(object, schema);
  const left: { readonly path: string; readonly part: Typed }[] =
    root === undefined ? [] : [{ path: '', part: root }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (pace.isOver()) yield* pace.pass();
    const { path, part } = next;
    if (!hasParts(part.value)) leaves.push({ path, value: part.value });
    else {
      const parts = [...(yield* partsOf(path, part, yield* listKeys([part], pace), pace))];
      for (const [at, below] of parts.reverse()) left.push({ path: at, part: below });
    }
  }
  return leaves;
}

const toRoot = (object: JsonObject | undefined, schema: ValueSchema | undefined): Typed | undefined =>
  object === undefined ? undefined : rootOf(withoutBookkeeping(object), schema);

/** Leaves out managed fields and the resourceVersion. */
export function withoutBookkeeping(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  if (metadata.managedFields === undefined && metadata.resourceVersion === undefined) return object;
  const { managedFields: _, resourceVersion: __, ...kept } = metadata;
  return { ...object, metadata: kept };
}
