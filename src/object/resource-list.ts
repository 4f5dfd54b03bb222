import { formatQuantity, parseQuantity, type Quantity } from './quantity.ts';

/** Amounts by the name of what there are so many of, as in `requests` and `limits`. */
export type ResourceList = ReadonlyMap<string, Quantity>;

export const NOTHING: ResourceList = new Map();

/** What is no quantity is left out. */
export function toResourceList(list: Readonly<Record<string, string>> = {}): ResourceList {
  const entries: [string, Quantity][] = [];
  for (const name of Object.keys(list)) {
    const quantity = parseQuantity(list[name] ?? '');
    if (quantity !== undefined) entries.push([name, quantity]);
  }
  return entries.length === 0 ? NOTHING : new Map(entries);
}

export const fromResourceList = (list: ResourceList): Record<string, string> =>
  Object.fromEntries([...list].map(([name, quantity]) => [name, formatQuantity(quantity)]));

/** The first one's way of writing stays, as in Kubernetes. */
const sum = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos + b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
});

const larger = (a: Quantity, b: Quantity): Quantity => (b.nanos > a.nanos ? b : a);

export const addLists = (a: ResourceList, b: ResourceList): ResourceList => merge(a, b, sum);
export const maxLists = (a: ResourceList, b: ResourceList): ResourceList => merge(a, b, larger);

function merge(a: ResourceList, b: ResourceList, both: (a: Quantity, b: Quantity) => Quantity): ResourceList {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const merged = new Map(a);
  for (const [name, quantity] of b) {
    const held = merged.get(name);
    merged.set(name, held === undefined ? quantity : both(held, quantity));
  }
  return merged;
}
