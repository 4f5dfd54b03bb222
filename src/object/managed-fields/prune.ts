import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { isObject } from '../merge-patch.ts';
import { fieldsOf } from './applied-set.ts';
import {
  difference,
  type FieldSet,
  fieldElement,
  intersection,
  isEmpty,
  LEAF,
  SELF,
  union,
} from './field-set.ts';
import { deduce, elementOf, type ListShape, partOf, type Shape, shapeOfItem } from './shape.ts';

/** What pruning has to know of the other versions in which fields of the object are owned. */
export interface OwnedFields {
  /** The shape of the object in that version, and the way there. */
  readonly shape: Shape;
  readonly owned: FieldSet;
  convert(object: JsonObject): JsonObject;
  convertBack(object: JsonObject): JsonObject;
}

/**
 * Takes out of a merged object what its manager applied before and does not apply any more, unless someone else owns it.
 * `last` is what it applied before; `owners` come with the version of `last` first.
 */
export function prune(
  merged: JsonObject,
  last: FieldSet,
  shape: Shape,
  owners: readonly OwnedFields[],
): JsonObject {
  if (isEmpty(last)) return merged;
  const dropped = withStructs(last, shape);
  let pruned = asObject(removeFields(merged, dropped, shape));
  for (const owner of owners)
    pruned = owner.convertBack(restore(owner.convert(merged), owner.convert(pruned), owner));
  const gone = difference(membersOf(merged, shape), membersOf(pruned, shape));
  return asObject(removeFields(merged, intersection(gone, dropped), shape));
}

/** Only what nobody owns may go. */
function restore(merged: JsonObject, pruned: JsonObject, { shape, owned }: OwnedFields): JsonObject {
  const kept = union(membersOf(pruned, shape), withStructs(owned, shape));
  return asObject(removeFields(merged, difference(membersOf(merged, shape), kept), shape));
}

const membersOf = (object: JsonObject, shape: Shape): FieldSet => withStructs(fieldsOf(object, shape), shape);
const asObject = (value: JsonValue): JsonObject => (isObject(value) ? value : {});

/** The set with the structs on its way made members: a struct that is left without fields goes too. */
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
      // Something is to go from inside a value that has become one thing: it goes as a whole.
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

/** Undefined: it goes. */
function leftOver(value: JsonValue, node: FieldSet, shape: Shape): JsonValue | undefined {
  if (isEmpty(node) || node[SELF] !== undefined) return undefined;
  return removeFields(value, node, shape);
}
