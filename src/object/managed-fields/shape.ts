import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import type { FieldSchema, MessageSchema, ValueSchema } from '../../api/schema.ts';
import { isObject } from '../json-values.ts';
import { zeroScalar } from '../zero-value.ts';
import { fieldElement, valueElement } from './field-set.ts';

/**
 * How server-side apply treats a value: as a unit (`leaf`), as parts with owners of their own, or, without a known type, by its
 * JSON type (`deduced`: objects have parts, lists are a unit).
 */
export type Shape =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'deduced' }
  | { readonly kind: 'struct'; readonly schema: MessageSchema }
  | { readonly kind: 'map'; readonly values: Shape }
  /** A list of unique scalars. */
  | { readonly kind: 'set' }
  /** A list of objects with unique keys. */
  | { readonly kind: 'keyed'; readonly keys: readonly string[]; readonly items: MessageSchema };

const LEAF_SHAPE: Shape = { kind: 'leaf' };
const DEDUCED: Shape = { kind: 'deduced' };
/** An object of no known type. */
export const DEDUCED_MAP: Shape & { kind: 'map' } = { kind: 'map', values: DEDUCED };
const SET: Shape = { kind: 'set' };

const shapes = new WeakMap<FieldSchema, Shape>();

export function shapeOfField(field: FieldSchema): Shape {
  let shape = shapes.get(field);
  if (shape === undefined) {
    shape = field.atomic ? LEAF_SHAPE : toShape(field.value, field);
    shapes.set(field, shape);
  }
  return shape;
}

const structs = new WeakMap<MessageSchema, Shape>();

/** One shape a type: shapes can be compared by identity. */
export function shapeOfMessage(schema: MessageSchema): Shape {
  let shape = structs.get(schema);
  if (shape === undefined) {
    shape = schema.atomic ? LEAF_SHAPE : { kind: 'struct', schema };
    structs.set(schema, shape);
  }
  return shape;
}

function toShape(value: ValueSchema, field: FieldSchema): Shape {
  switch (value.kind) {
    case 'message':
      return field.granular === true
        ? { kind: 'struct', schema: value.message }
        : shapeOfMessage(value.message);
    case 'map':
      return { kind: 'map', values: toShape(value.values, field) };
    case 'list':
      return toListShape(value.items, field);
    case 'FieldsV1':
    case 'RawExtension':
    case 'JSON':
    case 'SchemaOrArray':
    case 'SchemaOrBool':
    case 'SchemaOrStringArray':
      return DEDUCED;
    default:
      return LEAF_SHAPE;
  }
}

function toListShape(items: ValueSchema, { listType, listMapKeys }: FieldSchema): Shape {
  if (listType === 'set') return SET;
  if (listType !== 'map' || items.kind !== 'message') return LEAF_SHAPE;
  return { kind: 'keyed', keys: listMapKeys, items: items.message };
}

/** The shape of a value of unknown type. */
export const deduce = (value: JsonValue | undefined): Shape => (isObject(value) ? DEDUCED_MAP : LEAF_SHAPE);

/** A key of an object: its path element, its shape, and whether the type declares it. */
export interface Part {
  readonly element: string;
  readonly shape: Shape;
  readonly declared: boolean;
}

const partsOfTypes = new WeakMap<MessageSchema, Map<string, Part>>();

/** Caches declared fields: making their path elements anew doubles the time of comparing two objects. */
export function partOf(shape: Shape & { kind: 'struct' | 'map' }, key: string): Part {
  if (shape.kind === 'map') return { element: fieldElement(key), shape: shape.values, declared: false };
  let parts = partsOfTypes.get(shape.schema);
  if (parts === undefined) {
    parts = new Map();
    partsOfTypes.set(shape.schema, parts);
  }
  let part = parts.get(key);
  if (part === undefined) {
    part = toPart(shape.schema, key);
    // Clients choose the undeclared keys, so there is no bound on their number.
    if (part.declared) parts.set(key, part);
  }
  return part;
}

/** kind and apiVersion belong to every typed object. */
function toPart(schema: MessageSchema, key: string): Part {
  const element = fieldElement(key);
  const field = schema.fields.get(key);
  if (field !== undefined) return { element, shape: shapeOfField(field), declared: true };
  const declared = schema.typed && (key === 'kind' || key === 'apiVersion');
  return { element, shape: declared ? LEAF_SHAPE : DEDUCED, declared };
}

export type ListShape = Shape & { kind: 'set' | 'keyed' };

export const shapeOfItem = (shape: ListShape): Shape =>
  shape.kind === 'set' ? LEAF_SHAPE : shapeOfMessage(shape.items);

/** The path element of a list's item; undefined: it has no key. */
export function elementOf(item: JsonValue, shape: ListShape): string | undefined {
  if (shape.kind === 'set') return typeof item === 'object' ? undefined : valueElement(item);
  if (!isObject(item)) return undefined;
  let keys = '';
  for (const { name, text, fallback } of keysOf(shape)) {
    const value = item[name] ?? fallback;
    if (value !== undefined) keys += `${keys === '' ? '' : ','}${text}:${JSON.stringify(value)}`;
  }
  return keys === '' ? undefined : `k:{${keys}}`;
}

/** A key that an element lacks and that has no default. */
export const missingKey = (item: JsonObject, shape: ListShape & { kind: 'keyed' }): string | undefined =>
  shape.keys.find(
    (name) => item[name] === undefined && shape.items.fields.get(name)?.publishedDefault === undefined,
  );

interface ListKey {
  readonly name: string;
  /** Quoted. */
  readonly text: string;
  readonly fallback: unknown;
}

const listKeys = new WeakMap<Shape, readonly ListKey[]>();

/** In the order in which keyElement (field-set.ts) writes them. */
function keysOf(shape: Shape & { kind: 'keyed' }): readonly ListKey[] {
  let keys = listKeys.get(shape);
  if (keys === undefined) {
    keys = [...shape.keys].sort().map((name) => ({
      name,
      text: JSON.stringify(name),
      fallback: shape.items.fields.get(name)?.publishedDefault,
    }));
    listKeys.set(shape, keys);
  }
  return keys;
}

const empties = new WeakMap<MessageSchema, JsonObject>();

/** An object before its first write: the fields that exist even when unset. They have no owner. */
export function emptyObject(schema: MessageSchema): JsonObject {
  let empty = empties.get(schema);
  if (empty === undefined) {
    empty = {};
    empties.set(schema, empty);
    for (const field of schema.fields.values()) {
      if (field.zero !== 'always') continue;
      const { value } = field;
      empty[field.name] = value.kind === 'message' ? emptyObject(value.message) : zeroScalar(value.kind);
    }
  }
  return empty;
}
