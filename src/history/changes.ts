import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import type { ValueSchema } from '../api/schema.ts';
import { equal } from '../object/equality.ts';
import { isObject } from '../object/json-values.ts';
import type { Steps } from '../util/concurrency.ts';
import { hasParts, keysOf, partsOf, rootOf, type Typed } from './paths.ts';

/** One field that differs between two states of an object. Undefined: it is not there. The path '' is the whole object. */
export interface FieldChange {
  readonly path: string;
  readonly old: JsonValue | undefined;
  readonly new: JsonValue | undefined;
}

export interface Changes {
  readonly changes: readonly FieldChange[];
  /** There are more than were asked for. */
  readonly isTruncated: boolean;
}

/** Of one revision. An update of more fields is the exception, and who wants all of them has the two states. */
export const MAX_CHANGES = 1000;

/** How long work may hold the event loop at a time. */
const TURN_MS = 10;

interface Pair {
  readonly path: string;
  readonly was: Typed | undefined;
  readonly becomes: Typed | undefined;
}

/**
 * What is different between two states of an object, in its order: what is there in the old one first, then what is new. Managed
 * fields and the resourceVersion are left out. Lists of plain values change as a whole. Undefined: there is no such state.
 */
export function* changesBetween(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  schema?: ValueSchema,
  most = MAX_CHANGES,
): Steps<Changes> {
  const changes: FieldChange[] = [];
  const turn = new Turn();
  const left: Pair[] = [{ path: '', was: toRoot(before, schema), becomes: toRoot(after, schema) }];
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    if (turn.isOver()) yield;
    const { path, was, becomes } = pair;
    if (was !== undefined && becomes !== undefined) {
      if (equal(was.value, becomes.value)) continue;
      if (areAlike(was.value, becomes.value)) {
        for (const part of pairsOf(path, was, becomes).reverse()) left.push(part);
        continue;
      }
    } else if (was === becomes) continue;
    if (changes.length === most) return { changes, isTruncated: true };
    changes.push({ path, old: was?.value, new: becomes?.value });
  }
  return { changes, isTruncated: false };
}

/** Whether both fall into parts of the same kind. */
const areAlike = (was: JsonValue, becomes: JsonValue): boolean =>
  Array.isArray(was) === Array.isArray(becomes) && hasParts(was) && hasParts(becomes);

function pairsOf(path: string, was: Typed, becomes: Typed): Pair[] {
  const keys = listKeys(was, becomes);
  const before = partsOf(path, was, keys);
  const after = partsOf(path, becomes, keys);
  const pairs: Pair[] = [];
  for (const [at, part] of before) pairs.push({ path: at, was: part, becomes: after.get(at) });
  for (const [at, part] of after)
    if (!before.has(at)) pairs.push({ path: at, was: undefined, becomes: part });
  return pairs;
}

const listKeys = (...states: readonly Typed[]): readonly string[] | undefined => {
  const lists = states.flatMap(({ value }) => (Array.isArray(value) ? [value.filter(isObject)] : []));
  return lists.length === 0 ? undefined : keysOf(lists, states[0]?.keys);
};

/** A field without parts. */
export interface Leaf {
  readonly path: string;
  readonly value: JsonValue;
}

/** All fields that have no parts, in the object's order. */
export function* leavesOf(object: JsonObject, schema?: ValueSchema): Steps<Leaf[]> {
  const leaves: Leaf[] = [];
  const turn = new Turn();
  const root = toRoot(object, schema);
  const left: { readonly path: string; readonly part: Typed }[] =
    root === undefined ? [] : [{ path: '', part: root }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (turn.isOver()) yield;
    const { path, part } = next;
    if (!hasParts(part.value)) leaves.push({ path, value: part.value });
    else
      for (const [at, below] of [...partsOf(path, part, listKeys(part))].reverse())
        left.push({ path: at, part: below });
  }
  return leaves;
}

const toRoot = (object: JsonObject | undefined, schema: ValueSchema | undefined): Typed | undefined =>
  object === undefined ? undefined : rootOf(withoutBookkeeping(object), schema);

/** Without what changes at each write and tells nothing. */
export function withoutBookkeeping(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata)) return object;
  if (metadata.managedFields === undefined && metadata.resourceVersion === undefined) return object;
  const { managedFields: _, resourceVersion: __, ...kept } = metadata;
  return { ...object, metadata: kept };
}

/** Says when it is time for others to have their turn: the work must yield then. */
class Turn {
  #steps = 0;
  #endsMs = performance.now() + TURN_MS;

  isOver(): boolean {
    this.#steps += 1;
    if (this.#steps % 64 !== 0 || performance.now() < this.#endsMs) return false;
    this.#endsMs = performance.now() + 2 * TURN_MS;
    return true;
  }
}
