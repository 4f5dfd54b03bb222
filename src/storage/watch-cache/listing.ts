import { Pace } from '../../util/turns.ts';
import { rangeOf, type Scope } from '../key.ts';
import type { StateContents } from '../shared-state.ts';
import type { Entry, ListPage, ListQuery } from '../store.ts';
import type { Generation } from './generation.ts';
import type { EntryTree, ResourceCache, Snapshot } from './resource-cache.ts';
import type { FoundIndex } from './value-index.ts';

/** How lists, and watches that begin with the state, find objects in a resource. */

/** All objects of a generation as they are now, for other threads. */
export const contentsOf = ({ applied, caches }: Generation<ResourceCache>): StateContents => ({
  revision: applied,
  parts: [...caches].map((cache) => cache.contents()),
});

export function* valuesOf(tree: EntryTree, scope: Scope): Iterable<Entry> {
  const { low, high } = rangeOf(scope);
  for (const [position, entry] of tree.entries(low)) {
    if (position >= high) return;
    if (scope.name === undefined || entry.name === scope.name) yield entry;
  }
}

/** Lists a snapshot, which must be the caller's own: other work runs in between, and its changes are not seen. */
export async function listTree({ revision, tree }: Snapshot, query: ListQuery): Promise<ListPage> {
  const { scope, limit, matches } = query;
  const { low, high } = rangeOf(scope);
  const entries: Entry[] = [];
  const pace = new Pace();
  let from = later(query.after === undefined ? low : `${query.after}\0`, low);
  let last: string | undefined;
  let more = false;
  const look = (position: string, entry: Entry): boolean => {
    from = position;
    if (pace.isOver()) return false;
    if (scope.name !== undefined && entry.name !== scope.name) return true;
    if (matches !== undefined && !matches(entry)) return true;
    more = limit > 0 && entries.length === limit;
    if (more) return false;
    entries.push(entry);
    last = position;
    return true;
  };
  while (!tree.visit(from, high, look) && !more) await pace.rest();
  if (!more || last === undefined) return { revision, entries };
  if (matches !== undefined || scope.name !== undefined) return { revision, entries, next: last };
  return { revision, entries, next: last, remaining: tree.count(`${last}\0`, high) };
}

/** Returns the current state synchronously: a watch follows from there. */
export const valuesFound = (found: FoundIndex, scope: Scope): Entry[] =>
  foundIn(found, scope).map(([, entry]) => entry);

/** Returns an index's current entries in a scope. */
function foundIn({ index, value }: FoundIndex, scope: Scope): [string, Entry][] {
  const { low, high } = rangeOf(scope);
  return index
    .entriesWith(value)
    .filter(
      ([position, { name }]) =>
        position >= low && position < high && (scope.name === undefined || name === scope.name),
    );
}

/** {@link listTree} of the current state, by an index. */
export function listFound(
  by: FoundIndex,
  { revision }: Snapshot,
  { scope, limit, matches, after = '' }: ListQuery,
): ListPage {
  const found = foundIn(by, scope).filter(
    ([position, entry]) => position > after && matches?.(entry) !== false,
  );
  const page = limit === 0 ? found : found.slice(0, limit);
  const entries = page.map(([, entry]) => entry);
  const next = page.at(-1)?.[0];
  return found.length === page.length || next === undefined
    ? { revision, entries }
    : { revision, entries, next };
}

const later = (a: string, b: string): string => (byPosition(a, b) > 0 ? a : b);
const byPosition = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
