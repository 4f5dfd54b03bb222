import { expect, test } from 'vitest';
import { PastObjects } from '../../../src/history/restore/past-objects.ts';
import type { Wish } from '../../../src/history/restore/wish.ts';
import { configmaps } from '../../../src/resources/core/config-map.ts';
import { secrets } from '../../../src/resources/core/secret.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import type { History } from '../../../src/storage/history.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Store } from '../../../src/storage/store.ts';
import type { AsOf } from '../../../src/verbs/as-of.ts';

/** The state that a Restore names: where it is to be found, and what is said where it is not. */
const BEGIN = { revision: toRevision(100), at: new Date('2026-01-31T12:00:00Z') };

const historyOf = (revisionAt: Revision | undefined, newest = 200): History => ({
  revisionAt: async () => revisionAt,
  begin: async () => BEGIN,
  newest: async () => toRevision(newest),
  rows: async () => ({ rows: [], next: undefined }),
});

function storeAt(list: Store['list']): Store {
  const none = async (): Promise<never> => {
    throw new Error('nothing else is asked');
  };
  return { get: none, watch: none, commit: none, list };
}

const asked: string[] = [];
const EMPTY: Store['list'] = async ({ resource, freshness }) => {
  asked.push(`${resource.resource}@${freshness.kind === 'exact' ? freshness.revision : ''}`);
  return { revision: toRevision(200), entries: [] };
};

const at = (revision: number): AsOf => ({ kind: 'revision', revision: toRevision(revision) });
const MOMENT: AsOf = { kind: 'moment', at: '2026-01-31T12:30:00Z' };
const NAMED = { definition: configmaps, namespace: 'ns', name: 'a' };

/** `foundAt` 0: the moment is before history. */
function pastOf(to: AsOf, { list = EMPTY, foundAt = 150 } = {}): PastObjects {
  const [main, other] = [
    historyOf(foundAt === 0 ? undefined : toRevision(foundAt)),
    historyOf(toRevision(7000), 9000),
  ];
  const wish: Wish = { name: '', to, what: { kind: 'namespace', name: 'ns' } };
  const parts = {
    store: storeAt(list),
    historyOf: ({ resource }: { resource: string }) => (resource === 'secrets' ? other : main),
  };
  return new PastObjects(parts, wish, { signal: new AbortController().signal, aborted: false });
}

test('a state from before the kept history is gone, and the message names the oldest kept moment', async () => {
  const kept = 'spec.to: history is kept from revision 100 (2026-01-31T12:00:00.000Z)';
  for (const past of [pastOf(at(99)), pastOf(MOMENT, { foundAt: 0 })])
    await expect(past.get(NAMED)).rejects.toMatchObject({
      status: { code: 410, reason: 'Expired', message: kept },
    });
});

test('what is compacted while it is read is gone as well', async () => {
  const list = async (): Promise<never> => {
    throw new StorageError({ kind: 'compacted', requested: toRevision(150), compacted: toRevision(160) });
  };
  await expect(pastOf(MOMENT, { list }).get(NAMED)).rejects.toMatchObject({
    status: {
      code: 410,
      reason: 'Expired',
      message: expect.stringContaining('history is kept from revision 160'),
    },
  });
});

test('a moment is looked for in each database, whose revisions are its own; a revision is of one of them', async () => {
  const past = pastOf(MOMENT);
  await past.get(NAMED);
  await past.get({ ...NAMED, definition: secrets });
  expect(asked).toEqual(['configmaps@150', 'secrets@7000']);

  const other = pastOf(at(150));
  await other.get(NAMED);
  await expect(other.get({ ...NAMED, definition: secrets })).rejects.toMatchObject({
    status: { code: 422, message: expect.stringContaining('name a moment') },
  });
});
