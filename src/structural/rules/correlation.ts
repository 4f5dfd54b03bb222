import type { JsonObject, JsonValue } from '../../api/json.ts';
import { equal } from '../../object/equality.ts';
import { isObject } from '../../object/json-values.ts';
import { type Schema, schemaOfItems, schemaOfValues } from './types.ts';

/** Which value an item of a list with keys was before (apiserver/pkg/cel/common/maplist.go). */
export class KeyedItems {
  readonly #keys: readonly string[];
  readonly #items = new Map<string, JsonObject>();

  /** Without items when the list has no keys. */
  constructor(schema: Schema, list: JsonValue | undefined) {
    const { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
    this.#keys = type === 'map' ? keys : [];
    if (this.#keys.length === 0 || !Array.isArray(list)) return;
    for (const item of list) {
      const key = this.#keyOf(item);
      if (key !== undefined && isObject(item) && !this.#items.has(key)) this.#items.set(key, item);
    }
  }

  find(item: JsonValue): JsonObject | undefined {
    if (this.#items.size === 0) return undefined;
    const key = this.#keyOf(item);
    return key === undefined ? undefined : this.#items.get(key);
  }

  /** Undefined: a key is missing, or no scalar. */
  #keyOf(item: JsonValue): string | undefined {
    if (!isObject(item)) return undefined;
    const values: string[] = [];
    for (const key of this.#keys) {
      const value = Object.hasOwn(item, key) ? item[key] : undefined;
      if (value === undefined || typeof value === 'object') return undefined;
      values.push(`${typeof value === 'string' ? 's' : ''}${value}`);
    }
    return JSON.stringify(values);
  }
}

/**
 * A value and the one it was before (apiserver/pkg/cel/common/equality.go). Whether they are equal is found out once, and
 * for the parts first.
 */
export class Correlation {
  readonly #value: JsonValue;
  readonly #old: JsonValue;
  readonly #schema: Schema;
  readonly #children = new Map<string | number, Correlation>();
  #keyed: KeyedItems | undefined;
  #isEqual: boolean | undefined;

  constructor(value: JsonValue, old: JsonValue, schema: Schema) {
    this.#value = value;
    this.#old = old;
    this.#schema = schema;
  }

  /** Undefined: the field is new, or its schema is not known. */
  field(name: string): Correlation | undefined {
    if (!isObject(this.#value) || !isObject(this.#old)) return undefined;
    const { properties = {} } = this.#schema;
    const schema = Object.hasOwn(properties, name) ? properties[name] : schemaOfValues(this.#schema);
    if (schema === undefined || !Object.hasOwn(this.#value, name) || !Object.hasOwn(this.#old, name))
      return undefined;
    return this.#child(name, this.#value[name], this.#old[name], schema);
  }

  /** Undefined: the list has no keys, or had no item with these. */
  item(at: number): Correlation | undefined {
    const schema = schemaOfItems(this.#schema);
    if (schema === undefined || !Array.isArray(this.#value) || !Array.isArray(this.#old)) return undefined;
    const value = this.#value[at];
    if (value === undefined) return undefined;
    this.#keyed ??= new KeyedItems(this.#schema, this.#old);
    const old = this.#keyed.find(value);
    return old === undefined ? undefined : this.#child(at, value, old, schema);
  }

  get isEqual(): boolean {
    this.#isEqual ??= this.#compare();
    return this.#isEqual;
  }

  #child(key: string | number, value: JsonValue | undefined, old: JsonValue | undefined, schema: Schema) {
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const child = new Correlation(value ?? null, old ?? null, schema);
    this.#children.set(key, child);
    return child;
  }

  /** Items with keys may have changed places. Parts that do not correlate are compared as they are. */
  #compare(): boolean {
    const [value, old] = [this.#value, this.#old];
    if (Array.isArray(value) && Array.isArray(old)) {
      if (value.length !== old.length) return false;
      if (this.#schema['x-kubernetes-list-type'] !== 'map') return equal(value, old);
      return value.every((_, at) => this.item(at)?.isEqual === true);
    }
    if (!isObject(value) || !isObject(old)) return equal(value, old);
    const names = Object.keys(value);
    if (names.length !== Object.keys(old).length) return false;
    return names.every((name) => this.field(name)?.isEqual === true);
  }
}

/**
 * Where a rule stands in the ratchet: a value that did not change keeps what was wrong with it. A value without one of its own
 * before, such as an item of a list without keys, goes by the nearest value above it that has one.
 */
export class Ratchet {
  readonly #current: Correlation | undefined;
  readonly #nearest: Correlation | undefined;

  constructor(current?: Correlation, nearest?: Correlation) {
    this.#current = current;
    this.#nearest = nearest;
  }

  get isUnchanged(): boolean {
    return (this.#current ?? this.#nearest)?.isEqual === true;
  }

  /** The version and kind of an object are the same before and after, because both were converted. */
  field(name: string): Ratchet {
    if (this.#current === undefined) return this;
    if (this.#nearest === undefined && (name === 'apiVersion' || name === 'kind')) return NO_RATCHET;
    return new Ratchet(this.#current.field(name), this.#current);
  }

  item(at: number): Ratchet {
    return this.#current === undefined ? this : new Ratchet(this.#current.item(at), this.#current);
  }
}

export const NO_RATCHET = new Ratchet();
