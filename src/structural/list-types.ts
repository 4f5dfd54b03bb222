import type { JsonObject, JsonValue } from '../api/json.ts';
import type { FieldError } from '../api/status.ts';
import { FieldPath } from '../object/field-path.ts';
import { goAny } from '../object/go-value.ts';
import { isObject } from '../object/json-values.ts';
import { canonicalText } from './canonical.ts';
import { additionalSchemaOf, itemsOf, propertyOf, type Schema, structuralBelow } from './node.ts';

/**
 * Members of sets, and elements of lists that are told apart by keys, are there once (apiextensions-apiserver, schema/listtype).
 * On an update Kubernetes asks this of the new object only when the old one has no such error.
 */
export function validateListTypes(object: JsonObject, schema: Schema): FieldError[] {
  const found: FieldError[] = [];
  if (hasUniqueList(schema)) validateFields(FieldPath.root(found), object, schema);
  return found;
}

/** Most schemas have no such list, and most parts of the others have none. */
const known = new WeakMap<Schema, boolean>();

function hasUniqueList(schema: Schema): boolean {
  let has = known.get(schema);
  if (has === undefined) {
    const { 'x-kubernetes-list-type': type } = schema;
    has = type === 'set' || type === 'map';
    for (const one of structuralBelow(schema)) has ||= hasUniqueList(one);
    known.set(schema, has);
  }
  return has;
}

function validateFields(at: FieldPath, object: JsonObject, schema: Schema): void {
  const others = additionalSchemaOf(schema);
  if (others !== undefined && hasUniqueList(others))
    for (const name of Object.keys(object).sort()) validateValue(at.item(name), object[name], others);
  for (const name of Object.keys(object).sort()) {
    const property = propertyOf(schema, name);
    if (property !== undefined && hasUniqueList(property))
      validateValue(at.field(name), object[name], property);
  }
}

function validateValue(at: FieldPath, value: JsonValue | undefined, schema: Schema): void {
  if (Array.isArray(value)) validateList(at, value, schema);
  else if (isObject(value)) validateFields(at, value, schema);
}

function validateList(at: FieldPath, list: readonly JsonValue[], schema: Schema): void {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') validateSet(at, list);
  else if (type === 'map') validateMap(at, list, schema['x-kubernetes-list-map-keys'] ?? []);
  const items = itemsOf(schema);
  if (items === undefined || !hasUniqueList(items)) return;
  for (const [path, item] of at.each(list)) validateValue(path, item, items);
}

function validateSet(at: FieldPath, list: readonly JsonValue[]): void {
  for (const index of repeated(list)) at.item(index).duplicate(shown(list[index]));
}

const NO_KEY = Symbol('no key');

function validateMap(at: FieldPath, list: readonly JsonValue[], names: readonly string[]): void {
  const wrong = list.findIndex((item) => item !== null && !isObject(item));
  if (wrong >= 0) {
    const why = 'must be an object for an array of list-type map';
    at.item(wrong).invalid(shown(list[wrong]), why);
    return;
  }
  const [only = ''] = names;
  const keys = list.map((item) => (names.length === 1 ? keyOf(item, only) : keysOf(item, names)));
  for (const index of repeated(keys)) {
    const key = keys[index];
    const object = typeof key === 'symbol' ? {} : names.length === 1 ? { [only]: key } : key;
    at.item(index).duplicate(goAny(object));
  }
}

/** An element without the key is told from those that have it, and not from another one without it. */
function keyOf(item: JsonValue | undefined, name: string): JsonValue | typeof NO_KEY {
  return isObject(item) && Object.hasOwn(item, name) ? (item[name] ?? null) : NO_KEY;
}

function keysOf(item: JsonValue, names: readonly string[]): JsonObject {
  const given = names.filter((name) => isObject(item) && Object.hasOwn(item, name));
  return Object.fromEntries(given.map((name) => [name, isObject(item) ? item[name] : undefined]));
}

/** The second of equal members, in the order of the list; a third one is not reported. */
function repeated(list: readonly (JsonValue | symbol)[]): number[] {
  const times = new Map<unknown, number>();
  const out: number[] = [];
  for (const [at, item] of list.entries()) {
    const key =
      typeof item === 'object' && item !== null ? `compound ${canonicalText(item)}` : scalarKey(item);
    const before = times.get(key) ?? 0;
    if (before === 1) out.push(at);
    times.set(key, before + 1);
  }
  return out;
}

/** A text never equals the text of an object. */
const scalarKey = (item: JsonValue | symbol): unknown => (typeof item === 'string' ? `text ${item}` : item);

/** Kubernetes shows null in quotes. */
const shown = (value: JsonValue | undefined): unknown => (value === null ? 'null' : goAny(value));
