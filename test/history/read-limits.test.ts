import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { ALLOW, type Authorizer, alwaysAllow, NO_OPINION, NO_RULES } from '../../src/authz/authorizer.ts';
import { boundHistoryWork } from '../../src/history/large-work.ts';
import type { HistoryParts } from '../../src/history/parts.ts';
import { ReadLimits } from '../../src/history/read-limits.ts';
import { RevisionStore } from '../../src/history/revisions/revision-store.ts';
import { SharedRows } from '../../src/history/revisions/shared-rows.ts';
import { TimelineStore } from '../../src/history/timelines/timeline-store.ts';
import { Registry } from '../../src/registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../src/request/api-request.ts';
import { StorageError } from '../../src/storage/errors.ts';
import type { History, LoggedRevision, LogQuery } from '../../src/storage/history.ts';
import { type Revision, toRevision } from '../../src/storage/revision.ts';
import type { Store } from '../../src/storage/store.ts';
import { endTurn } from '../../src/util/turns.ts';
import { NO_BIRTHS } from './no-births.ts';

const PAGE = { order: 'newest first', limit: 10, states: 'written' } as const;

function rowOf(at: number, json: Buffer): LoggedRevision {
  return {
    key: { group: '', resource: 'configmaps', namespace: 'shop', name: `c${at}` },
    ...{ revision: toRevision(at), uid: `u${at}`, verb: 'create', previous: undefined, json },
    ...{ previousJson: undefined, committedAt: new Date(0), at: '1970-01-01T00:00:00.000000Z' },
    attribution: { username: 'ann', userAgent: '', sourceAddress: '', requestId: '', fieldManager: '' },
  };
}

const partsWith = (history: Partial<History>, authorizer: Authorizer = alwaysAllow): HistoryParts => ({
  ...{ registry: new Registry(), types: loadTypes(), authorizer, store: {} as Store, births: NO_BIRTHS },
  causesAmong: async () => new Map<Revision, Revision>(),
  historyOf: () => history as History,
  progressOf: () => ({ applied: toRevision(0), follow: () => () => {} }),
});

const requestOf = (query = '', aborted = false): AuthorizedResourceRequest =>
  ({ query: new URLSearchParams(query), aborted }) as AuthorizedResourceRequest;

/** Reads whose pages are answered when the test says so. */
function heldReads() {
  const reads = new ReadLimits(boundHistoryWork().reads);
  const asked: LogQuery[] = [];
  const held: (() => void)[] = [];
  const parts = partsWith({
    rows: async (query) => {
      asked.push(query);
      await new Promise<void>((resolve) => held.push(resolve));
      return { rows: [rowOf(1, Buffer.alloc(300 * 1024))], next: undefined };
    },
  });
  const read = (request = requestOf()): Promise<number> =>
    reads.run(parts, request, async ({ historyOf }) => {
      const history = historyOf({ group: '', resource: 'configmaps' });
      await history.rows(PAGE);
      return (await history.rows(PAGE)).rows.length;
    });
  /** Answers all pages that are asked for. */
  const answer = async (): Promise<void> => {
    await endTurn();
    for (const resolve of held.splice(0)) resolve();
    await endTurn();
  };
  return { read, answer, asked };
}

test('a read of history begins with a small page, and two at a time go on with large ones', async () => {
  const { read, answer, asked } = heldReads();
  const running = [read(), read(), read()];
  await answer();
  expect(asked.map(({ mostBytes }) => mostBytes)).toEqual([
    ...[256 * 1024, 256 * 1024, 256 * 1024],
    ...[undefined, undefined],
  ]);
  await answer();
  expect(asked).toHaveLength(6);
  await answer();
  expect(await Promise.all(running)).toEqual([1, 1, 1]);
});

test('a read that would wait behind too many others is refused, and those that wait are read in the end', async () => {
  const { read, answer } = heldReads();
  const running = Array.from({ length: 11 }, () => read());
  const outcomes = Promise.allSettled(running);
  for (let round = 0; round < 7; round += 1) await answer();
  const refused = (await outcomes).filter(({ status }) => status === 'rejected');
  expect(refused).toMatchObject([{ reason: { status: { code: 429, details: { retryAfterSeconds: 5 } } } }]);
});

test('a read that waited and whose client has gone reads nothing more', async () => {
  const { read, answer, asked } = heldReads();
  const running = [read(), read(), read(requestOf('', true))];
  const outcomes = Promise.allSettled(running);
  await answer();
  await answer();
  const reason = expect.any(StorageError);
  expect((await outcomes)[2]).toEqual({ status: 'rejected', reason });
  expect(asked).toHaveLength(5);
});

/** May read what `reads` says by its name alone, as another server answers. */
function askedFar(reads: (name: string) => boolean) {
  const names: string[] = [];
  const authorizer: Authorizer = {
    authorize: async ({ target }) => {
      names.push(target?.name ?? '');
      return reads(target?.name ?? '') ? ALLOW : NO_OPINION;
    },
    rules: () => NO_RULES,
  };
  return { authorizer, names };
}

const COUNT = 700;
const JSON_OF_NOTHING = Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"}}');
const rows = Array.from({ length: COUNT }, (_, at) => rowOf(at + 1, JSON_OF_NOTHING));

const log: Partial<History> = {
  begin: async () => ({ revision: toRevision(0), at: undefined }),
  newest: async () => toRevision(COUNT),
  rows: async ({ revisions, after = toRevision(0), upTo = toRevision(COUNT), order, limit }) => {
    const found = rows.filter(
      ({ revision }) => revision > after && revision <= upTo && revisions?.includes(revision) !== false,
    );
    const page = (order === 'oldest first' ? found : found.toReversed()).slice(0, limit);
    return { rows: page, next: page.length < found.length ? page.at(-1)?.revision : undefined };
  },
};

test('a list of revisions asks another server a bounded number of questions, and goes on where it stopped', async () => {
  const { authorizer, names } = askedFar((name) => name === 'c3' || name === 'c650');
  const read: string[] = [];
  const asked: number[] = [];
  let after: string | undefined;
  do {
    const page = await new RevisionStore(
      partsWith(log, authorizer),
      requestOf(),
      (of) => new SharedRows(of),
    ).list({
      ...{ resource: { group: 'history.cluster.io', resource: 'revisions' }, scope: {}, limit: 500 },
      freshness: { kind: 'latest' },
      ...(after === undefined ? {} : { after }),
    });
    read.push(...page.entries.map(({ revision }) => String(revision)));
    asked.push(names.splice(0).length);
    after = page.next;
  } while (after !== undefined);
  expect(read).toEqual(['650', '3']);
  expect(Math.max(...asked)).toBeLessThanOrEqual(205);
  expect(asked).toHaveLength(4);
});

test('so does a timeline of a namespace', async () => {
  const { authorizer, names } = askedFar((name) => name === 'c3' || name === 'c650');
  const read: (string | undefined)[] = [];
  let goesOn = '';
  do {
    const entry = await new TimelineStore(partsWith(log, authorizer), requestOf(`continue=${goesOn}`)).get({
      ...{ group: '', resource: '', namespace: '', name: 'namespace:shop' },
    });
    const timeline = JSON.parse(entry?.json.toString() ?? '') as {
      readonly entries: { readonly revision?: string }[];
      readonly continue?: string;
    };
    read.push(...timeline.entries.map(({ revision }) => revision));
    expect(names.splice(0).length).toBeLessThanOrEqual(205);
    goesOn = timeline.continue ?? '';
  } while (goesOn !== '');
  expect(read).toEqual(['3', '650']);
});

test('a right to get all of a namespace answers for each object in it', async () => {
  const { authorizer, names } = askedFar((name) => name === '');
  const page = await new RevisionStore(
    partsWith(log, authorizer),
    requestOf(),
    (of) => new SharedRows(of),
  ).list({
    ...{ resource: { group: 'history.cluster.io', resource: 'revisions' }, scope: {}, limit: 500 },
    freshness: { kind: 'latest' },
  });
  expect(page.entries).toHaveLength(500);
  expect(names).toHaveLength(1);
});
