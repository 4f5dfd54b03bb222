import type { JsonObject, JsonValue } from '../api/json.ts';
import { identical } from '../object/equality.ts';
import { isObject } from '../object/json-values.ts';
import { additionalSchemaOf, itemsOf, propertyOf, type Schema } from './schema-node.ts';

/**
 * Finds the old value of a value (apiserver, cel/common/equality.go), so that unchanged values are not refused. List items have
 * one only in lists with keys.
 */

/** The value before an update. */
export interface Before {
  readonly value: JsonValue;
}

/** The old values of one update, cached for one validation. */
export class OldValues {
  readonly #equal = new Map<object, { readonly old: JsonValue; readonly isEqual: boolean }>();
  readonly #byKey = new Map<readonly JsonValue[], ReadonlyMap<unknown, JsonObject>>();

  ofField(before: Before | undefined, name: string): Before | undefined {
    if (before === undefined || !isObject(before.value) || !Object.hasOwn(before.value, name))
      return undefined;
    const value = before.value[name];
    return value === undefined ? undefined : { value };
  }

  /** `schema`: that of the list. */
  ofItem(before: Before | undefined, item: JsonValue, schema: Schema): Before | undefined {
    if (before === undefined || !Array.isArray(before.value)) return undefined;
    const value = this.#itemWithKeys(before.value, item, schema);
    return value === undefined ? undefined : { value };
  }

  #itemWithKeys(list: readonly JsonValue[], item: JsonValue, schema: Schema): JsonObject | undefined {
    if (schema['x-kubernetes-list-type'] !== 'map' || schema.type !== 'array') return undefined;
    const names = schema['x-kubernetes-list-map-keys'] ?? [];
    const key = keyOf(item, names);
    return key === undefined ? undefined : this.#keyed(list, names).get(key);
  }

  #keyed(list: readonly JsonValue[], names: readonly string[]): ReadonlyMap<unknown, JsonObject> {
    const known = this.#byKey.get(list);
    if (known !== undefined) return known;
    const items = new Map<unknown, JsonObject>();
    for (const item of list) {
      const key = keyOf(item, names);
      if (key !== undefined && isObject(item) && !items.has(key)) items.set(key, item);
    }
    this.#byKey.set(list, items);
    return items;
  }

  /**
   * Whether a value is unchanged, as far as its schema goes: an object with an unknown field counts as changed, a list with
   * keys may be reordered.
   */
  areEqual(value: JsonValue, old: JsonValue, schema: Schema): boolean {
    if (typeof value !== 'object' || value === null || typeof old !== 'object' || old === null)
      return value === old;
    const known = this.#equal.get(value);
    if (known !== undefined && known.old === old) return known.isEqual;
    const isEqual = this.#compare(value, old, schema);
    this.#equal.set(value, { old, isEqual });
    return isEqual;
  }

  #compare(value: JsonValue, old: JsonValue, schema: Schema): boolean {
    if (Array.isArray(value)) return Array.isArray(old) && this.#areEqualLists(value, old, schema);
    return isObject(value) && isObject(old) && this.#areEqualObjects(value, old, schema);
  }

  #areEqualLists(list: readonly JsonValue[], old: readonly JsonValue[], schema: Schema): boolean {
    if (list.length !== old.length) return false;
    if (schema['x-kubernetes-list-type'] !== 'map') return identical(list, old);
    const items = itemsOf(schema);
    return list.every((item) => {
      const before = this.#itemWithKeys(old, item, schema);
      return before !== undefined && items !== undefined && this.areEqual(item, before, items);
    });
  }

  #areEqualObjects(object: JsonObject, old: JsonObject, schema: Schema): boolean {
    const names = Object.keys(object);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => {
      const own = propertyOf(schema, name) ?? additionalSchemaOf(schema);
      const before = Object.hasOwn(old, name) ? old[name] : undefined;
      return own !== undefined && before !== undefined && this.areEqual(object[name] ?? null, before, own);
    });
  }
}

/** A single key as it is, several as a text. Undefined: a key is missing or not a scalar. */
function keyOf(item: JsonValue, names: readonly string[]): unknown {
  if (!isObject(item) || names.length === 0) return undefined;
  const keys: JsonValue[] = [];
  for (const name of names) {
    const key = Object.hasOwn(item, name) ? item[name] : undefined;
    if (key === undefined || typeof key === 'object') return undefined;
    keys.push(key);
  }
  return keys.length === 1 ? keys[0] : JSON.stringify(keys);
}
