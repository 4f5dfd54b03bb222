import type { JsonObject, JsonValue } from '../api/json.ts';
import type { FieldError } from '../api/status.ts';
import { FieldPath } from '../object/field-path.ts';
import { goAny } from '../object/go-value.ts';
import { isObject } from '../object/json-values.ts';
import type { Steps } from '../util/turns.ts';
import { canonicalText } from './canonical.ts';
import { additionalSchemaOf, itemsOf, propertyOf, type Schema, structuralBelow } from './schema-node.ts';
import { validationPace } from './validation-pace.ts';

/**
 * Checks that set members and keys of map lists are unique (apiextensions-apiserver, schema/listtype). An update of an object
 * that already violates this is not checked: `old` is the object before the update.
 */
export function* listTypesInSteps(object: JsonObject, schema: Schema, old?: JsonObject): Steps<FieldError[]> {
  if (!hasUniqueList(schema)) return [];
  const errors = yield* errorsOf(object, schema);
  if (errors.length === 0 || old === undefined) return errors;
  const before = yield* errorsOf(old, schema);
  return before.length > 0 ? [] : errors;
}

function* errorsOf(object: JsonObject, schema: Schema): Steps<FieldError[]> {
  const found: FieldError[] = [];
  yield* new Search().fields(FieldPath.root(found), object, schema);
  return found;
}

/** Caches which schemas have such lists; most have none. */
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

/** More than clients read. */
const MAX_FOUND = 5_000;

class Search {
  readonly #pace = validationPace();

  *fields(at: FieldPath, object: JsonObject, schema: Schema): Steps<void> {
    const others = additionalSchemaOf(schema);
    const names = Object.keys(object).sort();
    if (others !== undefined && hasUniqueList(others))
      for (const name of names) yield* this.#value(at.item(name), object[name], others);
    for (const name of names) {
      const property = propertyOf(schema, name);
      if (property !== undefined && hasUniqueList(property))
        yield* this.#value(at.field(name), object[name], property);
    }
  }

  *#value(at: FieldPath, value: JsonValue | undefined, schema: Schema): Steps<void> {
    if (at.found >= MAX_FOUND) return;
    if (Array.isArray(value)) yield* this.#list(at, value, schema);
    else if (isObject(value)) yield* this.fields(at, value, schema);
  }

  *#list(at: FieldPath, list: readonly JsonValue[], schema: Schema): Steps<void> {
    const type = schema['x-kubernetes-list-type'];
    if (type === 'set') yield* this.#set(at, list);
    else if (type === 'map') yield* this.#map(at, list, schema['x-kubernetes-list-map-keys'] ?? []);
    const items = itemsOf(schema);
    if (items === undefined || !hasUniqueList(items)) return;
    for (const [path, item] of at.each(list)) yield* this.#value(path, item, items);
  }

  *#set(at: FieldPath, list: readonly JsonValue[]): Steps<void> {
    for (const index of yield* this.#repeated(list)) at.item(index).duplicate(shown(list[index]));
  }

  *#map(at: FieldPath, list: readonly JsonValue[], names: readonly string[]): Steps<void> {
    const wrong = list.findIndex((item) => item !== null && !isObject(item));
    if (wrong >= 0) {
      at.item(wrong).invalid(shown(list[wrong]), 'must be an object for an array of list-type map');
      return;
    }
    const [only = ''] = names;
    const keys = list.map((item) => (names.length === 1 ? keyOf(item, only) : keysOf(item, names)));
    for (const index of yield* this.#repeated(keys)) {
      const key = keys[index];
      const object = typeof key === 'symbol' ? {} : names.length === 1 ? { [only]: key } : key;
      at.item(index).duplicate(goAny(object));
    }
  }

  /** The second of equal members, in list order; further ones are not reported. */
  *#repeated(list: readonly (JsonValue | symbol)[]): Steps<number[]> {
    if (list.length < 2) return [];
    const scalars = new Map<unknown, boolean>();
    const compounds = new Map<unknown, boolean>();
    const out: number[] = [];
    for (let at = 0; at < list.length && out.length < MAX_FOUND; at += 1) {
      if (this.#pace.isOver()) yield* this.#pace.pass();
      const item = list[at];
      const isCompound = typeof item === 'object' && item !== null;
      const seen = isCompound ? compounds : scalars;
      const key = isCompound ? canonicalText(item) : item;
      // True once a second one was reported.
      const reported = seen.get(key);
      if (reported === false) out.push(at);
      seen.set(key, reported !== undefined);
    }
    return out;
  }
}

const NO_KEY = Symbol('no key');

/** The key of an element. Elements without it are all equal. */
function keyOf(item: JsonValue | undefined, name: string): JsonValue | typeof NO_KEY {
  return isObject(item) && Object.hasOwn(item, name) ? (item[name] ?? null) : NO_KEY;
}

function keysOf(item: JsonValue, names: readonly string[]): JsonObject {
  const given = names.filter((name) => isObject(item) && Object.hasOwn(item, name));
  return Object.fromEntries(given.map((name) => [name, isObject(item) ? item[name] : undefined]));
}

/** Kubernetes shows null in quotes. */
const shown = (value: JsonValue | undefined): unknown => (value === null ? 'null' : goAny(value));
