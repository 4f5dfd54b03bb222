import type { Scope } from '../key.ts';
import type { Entry, FieldValue, ListPage, ListQuery } from '../store.ts';
import type { EntryTree, ResourceCache, Snapshot } from './resource-cache.ts';

/** What a list, and a watch that begins with the state, finds in a resource. */

/** After every position of a namespace: positions continue with names, which never hold this character. */
const END = '\u{10FFFF}';

/** Bounds of the positions a scope covers; a name without a namespace is no range and is filtered. */
function rangeOf({ namespace, name }: Scope): { low: string; high: string } {
  if (namespace === undefined) return { low: '', high: END };
  if (name !== undefined) return { low: `${namespace}\0${name}`, high: `${namespace}\0${name}\0` };
  return { low: `${namespace}\0`, high: `${namespace}\0${END}` };
}

export function* valuesOf(tree: EntryTree, scope: Scope): Iterable<Entry> {
  const { low, high } = rangeOf(scope);
  for (const [position, entry] of tree.entries(low)) {
    if (position >= high) return;
    if (scope.name === undefined || entry.name === scope.name) yield entry;
  }
}

export function listTree({ revision, tree }: Snapshot, query: ListQuery): ListPage {
  const { scope, limit, matches } = query;
  const { low, high } = rangeOf(scope);
  const start = query.after === undefined ? low : `${query.after}\0`;
  const entries: Entry[] = [];
  let last: string | undefined;
  let more = false;
  tree.forRange(later(start, low), high, false, (position, entry) => {
    if (scope.name !== undefined && entry.name !== scope.name) return undefined;
    if (matches !== undefined && !matches(entry)) return undefined;
    if (limit > 0 && entries.length === limit) {
      more = true;
      return { break: true };
    }
    entries.push(entry);
    last = position;
    return undefined;
  });
  if (!more || last === undefined) return { revision, entries };
  if (matches !== undefined || scope.name !== undefined) return { revision, entries, next: last };
  return { revision, entries, next: last, remaining: tree.forRange(`${last}\0`, high, false) };
}

/** The current state, found before this returns: a watch follows from there. */
export const valuesFound = (cache: ResourceCache, lookUp: FieldValue, scope: Scope): Entry[] =>
  foundIn(cache, lookUp, scope).map(([, entry]) => entry);

/** What an index has in a scope; of the current state. */
function foundIn(cache: ResourceCache, lookUp: FieldValue, scope: Scope): [string, Entry][] {
  const { low, high } = rangeOf(scope);
  return cache
    .lookUp(lookUp)
    .filter(
      ([position, { name }]) =>
        position >= low && position < high && (scope.name === undefined || name === scope.name),
    );
}

/** {@link listTree} of the current state, by an index. */
export function listFound(
  cache: ResourceCache,
  { revision }: Snapshot,
  { scope, limit, matches, after = '' }: ListQuery,
  lookUp: FieldValue,
): ListPage {
  const found = foundIn(cache, lookUp, scope).filter(
    ([position, entry]) => position > after && matches?.(entry) !== false,
  );
  const shown = limit === 0 ? found : found.slice(0, limit);
  const entries = shown.map(([, entry]) => entry);
  const next = shown.at(-1)?.[0];
  return found.length === shown.length || next === undefined
    ? { revision, entries }
    : { revision, entries, next };
}

const later = (a: string, b: string): string => (byPosition(a, b) > 0 ? a : b);
const byPosition = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
