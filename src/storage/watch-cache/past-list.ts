import { StorageError } from '../errors.ts';
import { toPosition } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { RevisionReader, StoredObject } from '../revision-log.ts';
import type { Entry, ListPage, ListQuery } from '../store.ts';

/** Objects read at a time, where the list itself does not say how many. */
const PAGE = 1000;

/** How a list at a revision is read from the log. */
export interface PastList {
  readonly reader: Pick<RevisionReader, 'listAt'>;
  readonly revision: Revision;
  toEntry(stored: StoredObject): Entry;
}

/** @throws StorageError compacted, unavailable, unreadable */
export async function listPast(query: ListQuery, { reader, revision, toEntry }: PastList): Promise<ListPage> {
  const { resource, scope, limit, matches } = query;
  const entries: Entry[] = [];
  let { after } = query;
  for (;;) {
    const page = limit > 0 && matches === undefined ? limit : PAGE;
    const where = { resource, scope, revision, limit: page, ...(after === undefined ? {} : { after }) };
    const { objects, remaining } = await reader.listAt(where);
    if (query.around !== true) assertReadable(objects);
    for (const [at, object] of objects.entries()) {
      after = toPosition(object.key);
      if (object.unreadable !== undefined) continue;
      const entry = toEntry(object);
      if (matches !== undefined && !matches(entry)) continue;
      entries.push(entry);
      if (limit === 0 || entries.length < limit) continue;
      const left = remaining === undefined ? undefined : remaining + objects.length - at - 1;
      if (left === 0) return { revision, entries };
      const isKnown = matches === undefined && left !== undefined;
      return { revision, entries, next: after, ...(isKnown ? { remaining: left } : {}) };
    }
    if (remaining === 0) return { revision, entries };
  }
}

/** @throws StorageError unreadable */
export function assertReadable(stored: readonly StoredObject[]): void {
  const objects = stored.flatMap((one) =>
    one.unreadable === undefined ? [] : [{ ...one, reason: one.unreadable }],
  );
  if (objects.length > 0) throw new StorageError({ kind: 'unreadable', objects });
}

/** Yields all entries in a scope at a revision, by pages. @throws StorageError compacted, unavailable, unreadable */
export async function* pagesOfPast(
  { resource, scope, around }: Pick<ListQuery, 'resource' | 'scope' | 'around'>,
  { reader, revision, toEntry }: PastList,
): AsyncGenerator<readonly Entry[]> {
  for (let after: string | undefined; ; ) {
    const where = { resource, scope, revision, limit: PAGE, ...(after === undefined ? {} : { after }) };
    const { objects, remaining } = await reader.listAt(where);
    if (around !== true) assertReadable(objects);
    yield objects.filter(({ unreadable }) => unreadable === undefined).map(toEntry);
    const last = objects.at(-1);
    if (remaining === 0 || last === undefined) return;
    after = toPosition(last.key);
  }
}
