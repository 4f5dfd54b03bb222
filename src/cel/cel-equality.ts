import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator';
import { spend, spendOnSize } from './budget.ts';

/** A value of a type that is defined here and compares itself. */
interface Comparable {
  equals(other: unknown): boolean;
}

/**
 * Whether two values are equal (cel-spec, langdef, section Equality): numbers by value regardless of their types, maps regardless of
 * order, and values of different types never. The library compares by the type of the first item of a list or map, which is
 * wrong for values from JSON.
 */
export function celEqual(a: unknown, b: unknown): boolean {
  spend(1);
  if (typeof a === 'string' && typeof b === 'string') return equalTexts(a, b);
  if (a === b) return true;
  if (isNumber(a)) return isNumber(b) && numericallyEqual(a, b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b);
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (a instanceof Uint8Array) return b instanceof Uint8Array && equalBytes(a, b);
  if (a instanceof Duration) return b instanceof Duration && a.seconds === b.seconds && a.nanos === b.nanos;
  if (isComparable(a)) return a.equals(b);
  if (isOptional(a)) return isOptional(b) && equalOptionals(a, b);
  return isMap(a) && isMap(b) && equalMaps(a, b);
}

export const isNumber = (value: unknown): value is bigint | number | UnsignedInt =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof UnsignedInt;

const plain = (value: bigint | number | UnsignedInt): bigint | number =>
  value instanceof UnsignedInt ? value.valueOf() : value;

function numericallyEqual(a: bigint | number | UnsignedInt, b: bigint | number | UnsignedInt): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: compares integers and doubles by value
  return plain(a) == plain(b);
}

/** Texts of different lengths differ at a look. */
function equalTexts(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  spendOnSize(a.length);
  return a === b;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  spendOnSize(a.length);
  return Buffer.compare(a, b) === 0;
}

function equalLists(a: readonly unknown[], b: readonly unknown[]): boolean {
  const order = orders.get(a);
  if (order !== undefined) return order.equals(a, b);
  return a.length === b.length && a.every((item, at) => celEqual(item, b[at]));
}

/** Operations of a list whose order is irrelevant: a set, or items with keys. */
export interface ListOrder {
  equals(a: readonly unknown[], b: readonly unknown[]): boolean;
  /** `a + b` */
  join(a: readonly unknown[], b: readonly unknown[]): unknown[];
}

const orders = new WeakMap<readonly unknown[], ListOrder>();

export function setListOrder<List extends readonly unknown[]>(list: List, order: ListOrder): List {
  orders.set(list, order);
  return list;
}

export function joinLists(a: readonly unknown[], b: readonly unknown[]): unknown[] {
  spendOnSize(a.length + b.length);
  const order = orders.get(a);
  return order === undefined ? [...a, ...b] : setListOrder(order.join(a, b), order);
}

const isComparable = (value: object): value is Comparable =>
  'equals' in value && typeof value.equals === 'function';

interface Optional {
  hasValue(): boolean;
  value(): unknown;
}

export const isOptional = (value: unknown): value is Optional =>
  typeof value === 'object' &&
  value !== null &&
  'hasValue' in value &&
  typeof value.hasValue === 'function' &&
  'value' in value;

function equalOptionals(a: Optional, b: Optional): boolean {
  if (!a.hasValue() || !b.hasValue()) return a.hasValue() === b.hasValue();
  return celEqual(a.value(), b.value());
}

/** Maps from JSON are Maps, maps that an expression writes are objects. */
type AnyMap = ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>;

export const isMap = (value: unknown): value is AnyMap =>
  value instanceof Map ||
  (typeof value === 'object' &&
    value !== null &&
    (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null));

export const sizeOfMap = (map: AnyMap): number => (map instanceof Map ? map.size : Object.keys(map).length);

/** The key of a map that equals another: numbers by value. Undefined: there is none. */
export function keyIn(map: ReadonlyMap<unknown, unknown>, key: unknown): unknown {
  if (map.has(key)) return key;
  if (!isNumber(key)) return undefined;
  spendOnSize(map.size);
  for (const other of map.keys()) if (isNumber(other) && numericallyEqual(other, key)) return other;
  return undefined;
}

export function hasKey(map: AnyMap, key: unknown): boolean {
  if (map instanceof Map) return keyIn(map, key) !== undefined;
  return Object.hasOwn(map, String(key instanceof UnsignedInt ? key.valueOf() : key));
}

const valueAt = (map: AnyMap, key: unknown): unknown =>
  map instanceof Map
    ? map.get(keyIn(map, key))
    : hasKey(map, key)
      ? Reflect.get(map, String(key))
      : undefined;

export const entriesOf = (map: AnyMap): Iterable<readonly [unknown, unknown]> =>
  map instanceof Map ? map : Object.entries(map);

function equalMaps(a: AnyMap, b: AnyMap): boolean {
  if (sizeOfMap(a) !== sizeOfMap(b)) return false;
  for (const [key, value] of entriesOf(a))
    if (!hasKey(b, key) || !celEqual(value, valueAt(b, key))) return false;
  return true;
}

/** `in` of lists and maps. */
export function celContains(collection: unknown, value: unknown): boolean {
  if (Array.isArray(collection)) return collection.some((item) => celEqual(item, value));
  if (isMap(collection)) return hasKey(collection, value);
  throw new Error('no such overload');
}
