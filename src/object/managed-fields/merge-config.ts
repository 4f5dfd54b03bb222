import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { Steps } from '../../util/turns.ts';
import { isObject, setField } from '../json-values.ts';
import {
  difference,
  EMPTY,
  type FieldSet,
  fieldElement,
  intersection,
  isEmpty,
  LEAF,
  SELF,
  toNode,
  union,
} from './field-set.ts';
import { deduce, elementOf, type ListShape, partOf, type Shape, shapeOfItem } from './shape.ts';

/**
 * The fields that a configuration names: its values, the entries of its maps and the elements of its lists. A struct counts
 * as a field only when it is empty; otherwise its fields count.
 */
export function fieldsOf(value: JsonValue, shape: Shape): FieldSet {
  return nodeOf(value, shape, true) ?? EMPTY;
}

function nodeOf(value: JsonValue, shape: Shape, declared: boolean): FieldSet | undefined {
  const known = shape.kind === 'deduced' ? deduce(value) : shape;
  switch (known.kind) {
    case 'struct':
    case 'map': {
      if (!isObject(value)) return LEAF;
      const out: Record<string, FieldSet> = {};
      for (const key of Object.keys(value)) {
        const inner = value[key];
        if (inner === undefined) continue;
        const part = partOf(known, key);
        const node = nodeOf(inner, part.shape, part.declared);
        if (node !== undefined) out[part.element] = node;
      }
      return toNode(!declared || Object.keys(value).length === 0, out);
    }
    case 'set':
    case 'keyed': {
      if (!Array.isArray(value)) return LEAF;
      const items = shapeOfItem(known);
      const out: Record<string, FieldSet> = {};
      for (const item of value) {
        const element = elementOf(item, known);
        if (element !== undefined)
          out[element] = out[element] === undefined ? (nodeOf(item, items, false) ?? LEAF) : LEAF;
      }
      return toNode(!declared, out);
    }
    default:
      return LEAF;
  }
}

/**
 * Merges a configuration into a live object. Removes nothing: fields outside the configuration stay, its own get its values.
 * The inputs are not changed.
 */
export function mergeConfig(live: JsonObject, config: JsonObject, shape: Shape): JsonObject {
  const merged = merge(live, config, shape);
  return isObject(merged) ? merged : {};
}

function merge(
  live: JsonValue | undefined,
  config: JsonValue | undefined,
  shape: Shape,
): JsonValue | undefined {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const known = shape.kind === 'deduced' ? deduce(config) : shape;
  switch (known.kind) {
    case 'struct':
    case 'map':
      if (isObject(live) && Object.keys(live).length > 0)
        return isObject(config) ? mergeObjects(live, config, known) : live;
      return config;
    case 'set':
    case 'keyed':
      if (Array.isArray(live) && live.length > 0)
        return Array.isArray(config) ? mergeLists(live, config, known) : live;
      return config;
    default:
      return config;
  }
}

function mergeObjects(
  live: JsonObject,
  config: JsonObject,
  shape: Shape & { kind: 'struct' | 'map' },
): JsonObject {
  const out: JsonObject = { ...live };
  for (const key of Object.keys(config)) {
    const mine = Object.hasOwn(live, key) ? live[key] : undefined;
    const merged = merge(mine, config[key], partOf(shape, key).shape);
    if (merged !== undefined) setField(out, key, merged);
  }
  return out;
}

/**
 * Orders shared elements as the configuration does; elements of the live list alone stay behind the ones they followed.
 *
 *   live a b c d, configuration d b   →   a c d b
 */
function mergeLists(live: readonly JsonValue[], config: readonly JsonValue[], shape: ListShape): JsonValue[] {
  const items = shapeOfItem(shape);
  const mine = live.map((item) => elementOf(item, shape));
  const wanted = config.map((item) => elementOf(item, shape));
  const known = indexUnique(live, mine);
  const configured = new Set(wanted);
  const there = new Set(mine);
  const shared = wanted.filter((element) => there.has(element));
  let sharedAt = 0;
  const done = new Set<string | undefined>();
  const out: JsonValue[] = [];
  const take = (at: number): void => {
    const element = wanted[at];
    const value = merge(known.get(element), config[at], items);
    done.add(element);
    if (shared[sharedAt] === element) sharedAt += 1;
    if (value !== undefined) out.push(value);
  };
  let left = 0;
  let right = 0;
  while (left < live.length || right < config.length) {
    const element = mine[left];
    if (left < live.length && !configured.has(element)) {
      out.push(live[left] ?? null);
      left += 1;
    } else if (
      left < live.length &&
      (done.has(element) || (right < config.length && waitsBehind(element, shared[sharedAt], wanted[right])))
    ) {
      left += 1;
    } else {
      if (left < live.length && element === wanted[right]) left += 1;
      take(right);
      right += 1;
    }
  }
  return out;
}

/** Whether a shared element must wait: the configuration puts another one first. */
const waitsBehind = (
  element: string | undefined,
  nextShared: string | undefined,
  next: string | undefined,
): boolean => element !== next && nextShared !== undefined && nextShared !== element;

/** Indexes elements; duplicates are not merged into. */
function indexUnique(
  list: readonly JsonValue[],
  elements: readonly (string | undefined)[],
): Map<string | undefined, JsonValue> {
  const out = new Map<string | undefined, JsonValue>();
  const seen = new Set<string | undefined>();
  for (const [at, element] of elements.entries()) {
    const item = list[at];
    if (seen.has(element)) out.delete(element);
    else if (item !== undefined) out.set(element, item);
    seen.add(element);
  }
  return out;
}

/** Fields of the object that are owned in one version. */
export interface OwnedFields {
  /** The shape of the object in that version, and the way there. */
  readonly shape: Shape;
  readonly owned: FieldSet;
  readonly convert: Conversion;
  readonly convertBack: Conversion;
}

export type Conversion = (objects: readonly JsonObject[]) => Steps<readonly JsonObject[]>;

/**
 * Removes from a merged object the fields that its manager applied before and no longer applies, unless another owner has them.
 * `last`: the fields applied before; the first of `owners` is in the version of `last`.
 */
export function* prune(
  merged: JsonObject,
  last: FieldSet,
  shape: Shape,
  owners: readonly OwnedFields[],
): Steps<JsonObject> {
  if (isEmpty(last)) return merged;
  const dropped = withoutMetadataItself(withStructs(last, shape));
  let pruned = cutFrom(merged, dropped, shape);
  for (const owner of owners) {
    const [whole = merged, cut = pruned] = yield* owner.convert([merged, pruned]);
    const [back = pruned] = yield* owner.convertBack([restore(whole, cut, owner)]);
    pruned = back;
  }
  const gone = difference(membersOf(merged, shape), membersOf(pruned, shape));
  return cutFrom(merged, intersection(gone, dropped), shape);
}

/**
 * Keeps metadata when a manager releases all its fields in it: name and uid have no owner, and conversions need them to
 * identify the object.
 */
function withoutMetadataItself(set: FieldSet): FieldSet {
  const { 'f:metadata': metadata, ...rest } = set;
  if (metadata === undefined) return set;
  const { [SELF]: _, ...parts } = metadata;
  return Object.keys(parts).length === 0 ? rest : { ...rest, 'f:metadata': parts };
}

function cutFrom(object: JsonObject, fields: FieldSet, shape: Shape): JsonObject {
  const cut = asObject(removeFields(object, fields, shape));
  return isObject(cut.metadata) || object.metadata === undefined ? cut : { ...cut, metadata: {} };
}

/** Restores the fields that are owned in this version. */
function restore(merged: JsonObject, pruned: JsonObject, { shape, owned }: OwnedFields): JsonObject {
  const kept = union(membersOf(pruned, shape), withStructs(owned, shape));
  return cutFrom(merged, withoutMetadataItself(difference(membersOf(merged, shape), kept)), shape);
}

const membersOf = (object: JsonObject, shape: Shape): FieldSet => withStructs(fieldsOf(object, shape), shape);
const asObject = (value: JsonValue): JsonObject => (isObject(value) ? value : {});

/** Adds the structs above the fields: an emptied struct is removed too. */
function withStructs(set: FieldSet, shape: Shape): FieldSet {
  const out: Record<string, FieldSet> = {};
  for (const [element, node] of Object.entries(set)) {
    if (element === SELF) out[element] = LEAF;
    else out[element] = withStruct(element, node, shape);
  }
  return out;
}

function withStruct(element: string, node: FieldSet, shape: Shape): FieldSet {
  if (isEmpty(node)) return node;
  const key = element.slice(2);
  if (element.startsWith('f:') && (shape.kind === 'struct' || shape.kind === 'map')) {
    const { shape: inner, declared } = partOf(shape, key);
    const children = withStructs(node, inner);
    return declared ? { [SELF]: LEAF, ...children } : children;
  }
  if (element.startsWith('k:') && shape.kind === 'keyed') return withStructs(node, shapeOfItem(shape));
  return withStructs(node, { kind: 'deduced' });
}

function removeFields(value: JsonValue, fields: FieldSet, shape: Shape): JsonValue {
  const known = shape.kind === 'deduced' ? deduce(value) : shape;
  switch (known.kind) {
    case 'struct':
    case 'map':
      return isObject(value) ? removeFromObject(value, fields, known) : null;
    case 'set':
    case 'keyed':
      return Array.isArray(value) ? removeFromList(value, fields, known) : null;
    case 'leaf':
      // The field is inside a value that the type now treats as a unit: remove it all.
      return typeof value === 'object' ? null : value;
    default:
      return value;
  }
}

function removeFromObject(
  object: JsonObject,
  fields: FieldSet,
  shape: Shape & { kind: 'struct' | 'map' },
): JsonValue {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const node = fields[fieldElement(key)];
    const left = node === undefined ? value : leftOver(value, node, partOf(shape, key).shape);
    if (left !== undefined)
      Object.defineProperty(out, key, { value: left, enumerable: true, configurable: true, writable: true });
  }
  return Object.keys(out).length === 0 ? null : out;
}

function removeFromList(list: readonly JsonValue[], fields: FieldSet, shape: ListShape): JsonValue {
  const items = shapeOfItem(shape);
  const out = list.flatMap((item) => {
    const element = elementOf(item, shape);
    const node = element === undefined ? undefined : fields[element];
    const left = node === undefined ? item : leftOver(item, node, items);
    return left === undefined ? [] : [left];
  });
  return out.length === 0 ? null : out;
}

/** Undefined: nothing is left. */
function leftOver(value: JsonValue, node: FieldSet, shape: Shape): JsonValue | undefined {
  if (isEmpty(node) || node[SELF] !== undefined) return undefined;
  return removeFields(value, node, shape);
}
