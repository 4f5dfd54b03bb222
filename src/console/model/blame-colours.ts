import { isRecord, type Json } from './api-object.ts';
import type { NameElement } from './yaml.ts';

/** The author of a field. Fields older than history have none. */
export interface BlameField {
  readonly path: string;
  readonly revision?: string;
  readonly at?: string;
  readonly user?: string;
  readonly manager?: string;
}

export interface Blame {
  fieldAt(path: string): BlameField | undefined;
  readonly nameElement: NameElement;
}

/**
 * Finds the author of fields. The server names list elements by the keys of the list's schema, which is unknown here, so an
 * element gets the possible name with which a path of the blame begins.
 */
export function createBlame(fields: readonly BlameField[]): Blame {
  const byPath = new Map(fields.map((field) => [field.path, field]));
  const sorted = [...byPath.keys()].sort();
  const isKnown = (prefix: string): boolean => {
    const path = sorted[firstFrom(sorted, prefix)];
    return path?.startsWith(prefix) === true && /^($|[.[])/.test(path.slice(prefix.length));
  };
  return {
    fieldAt: (path) => byPath.get(path),
    nameElement: (listPath, element, index) => {
      const names = [...namesOf(element), `[${index}]`];
      return names.find((name) => isKnown(listPath + name)) ?? `[${index}]`;
    },
  };
}

/** The index of the first path that is not before `wanted`. */
function firstFrom(sorted: readonly string[], wanted: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? '') < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Possible names: by one field, or by two, as ports have number and protocol. */
function namesOf(element: Json): string[] {
  if (!isRecord(element)) return [];
  const pairs = Object.entries(element)
    .filter(([, value]) => value === null || typeof value !== 'object')
    .map(([key, value]) => `${key}=${String(value)}`);
  const twos = pairs.flatMap((a) => pairs.filter((b) => b !== a).map((b) => `[${a},${b}]`));
  return [...twos, ...pairs.map((one) => `[${one}]`)];
}

/** The relative age: 0 for the oldest, 1 for the newest. By rank, because changes come in bursts. */
export function recencyOf(moments: readonly string[]): (at: string) => number {
  const distinct = [...new Set(moments)].sort();
  const rank = new Map(distinct.map((at, index) => [at, index]));
  return (at) => (distinct.length < 2 ? 1 : (rank.get(at) ?? 0) / (distinct.length - 1));
}

/** One of `count` colours, always the same for an author. */
export function colourOf(author: string, count: number): number {
  let hash = 2166136261;
  for (let index = 0; index < author.length; index++)
    hash = Math.imul(hash ^ author.charCodeAt(index), 16777619);
  return (hash >>> 0) % count;
}
