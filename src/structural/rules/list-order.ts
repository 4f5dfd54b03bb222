import { spendOnSize } from '../../cel/budget.ts';
import { celContains, celEqual, isMap, type ListOrder } from '../../cel/cel-equality.ts';
import { CelObject } from '../../cel/objects.ts';
import { escapeName } from './escape.ts';

/** Lists in expressions whose order is irrelevant (x-kubernetes-list-type). */

const isScalar = (value: unknown): boolean => typeof value !== 'object' && value !== undefined;

/** Whether all items of `b` are among those of `a`. */
function hasAll(a: readonly unknown[], b: readonly unknown[]): boolean {
  spendOnSize(a.length + b.length);
  if (!a.every(isScalar)) return b.every((item) => celContains(a, item));
  const items = new Set(a);
  return b.every((item) => items.has(item));
}

export const SET_ORDER: ListOrder = {
  equals: (a, b) => a.length === b.length && hasAll(a, b),
  join: (a, b) => {
    const items = new Set(a);
    const isNew = (item: unknown): boolean => !items.has(item) && (isScalar(item) || !celContains(a, item));
    return [...a, ...new Set(b.filter(isNew))];
  },
};

/** Items with equal keys are the same. */
export class KeyedOrder implements ListOrder {
  readonly #keys: readonly string[];

  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => escapeName(key) ?? key);
  }

  equals(a: readonly unknown[], b: readonly unknown[]): boolean {
    if (a.length !== b.length) return false;
    const byKey = this.#byKey(a);
    return b.every((item) => {
      const key = this.#keyOf(item);
      return byKey.has(key) && celEqual(byKey.get(key), item);
    });
  }

  /** Items of `b` replace those with the same keys; others are appended. */
  join(a: readonly unknown[], b: readonly unknown[]): unknown[] {
    const joined = this.#byKey(a);
    for (const item of b) joined.set(this.#keyOf(item), item);
    return [...joined.values()];
  }

  #byKey(list: readonly unknown[]): Map<string, unknown> {
    spendOnSize(list.length * 10);
    return new Map(list.map((item) => [this.#keyOf(item), item]));
  }

  #keyOf(item: unknown): string {
    const values = this.#keys.map((key) => fieldOf(item, key));
    return JSON.stringify(values.map((value) => `${typeof value}:${String(value)}`));
  }
}

function fieldOf(item: unknown, name: string): unknown {
  if (item instanceof CelObject) return item.get(name);
  if (!isMap(item)) return undefined;
  return item instanceof Map
    ? item.get(name)
    : Object.hasOwn(item, name)
      ? Reflect.get(item, name)
      : undefined;
}
