import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import { type Authorizer, alwaysAllow, alwaysDeny } from '../../../src/authz/authorizer.ts';
import { RevisionStore } from '../../../src/history/revisions/revision-store.ts';
import { SharedRows } from '../../../src/history/revisions/shared-rows.ts';
import { Registry } from '../../../src/registry/registry.ts';
import type { AuthorizedResourceRequest } from '../../../src/request/api-request.ts';
import { EncodedLog } from '../../../src/storage/encoded-log.ts';
import type { History, LogQuery } from '../../../src/storage/history.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Entry, ListPage, Store } from '../../../src/storage/store.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog, write } from '../../storage/postgres/kit.ts';
import { NO_BIRTHS } from '../no-births.ts';

let database: TestDatabase;
let log: PostgresLog;
let history: History;
let made: Revision[];

beforeEach(async () => {
  database = await createTestDatabase();
  log = openLog(database.url);
  history = new EncodedLog(log, []).decodeHistory(log.history);
  made = [];
  for (let at = 0; at < 8; at += 1) made.push(await log.committer.commit(write('create', `n${at}`)));
});

afterEach(async () => {
  await log.close();
  await database.drop();
});

const compact = (upTo: Revision | undefined): Promise<unknown> =>
  database.query(
    'UPDATE compaction SET (revision, committed_at) = (SELECT revision, committed_at FROM revisions WHERE revision = $1)',
    [String(upTo)],
  );

/** `onRead`: before each question for rows. */
function list(
  options: {
    limit?: number;
    after?: string;
    query?: string;
    authorizer?: Authorizer;
    onRead?: (query: LogQuery) => Promise<unknown>;
  } = {},
): Promise<ListPage> {
  const { limit = 3, after, query = '', authorizer = alwaysAllow, onRead = async () => {} } = options;
  const watched: History = {
    revisionAt: (moment) => history.revisionAt(moment),
    begin: () => history.begin(),
    newest: () => history.newest(),
    rows: async (asked) => {
      await onRead(asked);
      return history.rows(asked);
    },
  };
  const parts = {
    ...{ registry: new Registry(), types: loadTypes(), authorizer, store: {} as Store },
    causesAmong: async () => new Map<Revision, Revision>(),
    births: NO_BIRTHS,
    historyOf: () => watched,
    progressOf: () => ({ applied: toRevision(0), follow: () => () => {} }),
  };
  const request = { query: new URLSearchParams(query), aborted: false } as AuthorizedResourceRequest;
  return new RevisionStore(parts, request, (of) => new SharedRows(of)).list({
    ...{ resource: { group: 'history.cluster.io', resource: 'revisions' }, scope: {}, limit },
    freshness: { kind: 'latest' },
    ...(after === undefined ? {} : { after }),
  });
}

const revisionsOf = (entries: readonly Entry[]): Revision[] => entries.map(({ revision }) => revision);
const newestFirst = (rows: readonly Revision[]): Revision[] => rows.toReversed();

test('a list goes on in pages while others write, and ends where history begins', async () => {
  await compact(made[1]);
  const first = await list();
  made.push(await log.committer.commit(write('create', 'meanwhile')));
  const second = await list({ after: first.next ?? '' });
  expect(second.next).toBeUndefined();
  expect(revisionsOf([...first.entries, ...second.entries])).toEqual(newestFirst(made.slice(2, 8)));
});

test('a page that would lie before history is 410, and says where history begins now', async () => {
  const { next = '' } = await list();
  await compact(made[6]);
  const says = new RegExp(`^continue: history is kept from revision ${made[6]} \\(\\d{4}-`);
  await expect(list({ after: next })).rejects.toMatchObject({
    status: { code: 410, reason: 'Expired', message: expect.stringMatching(says) },
  });
});

test('what is compacted while a page is made ends the list there', async () => {
  const page = await list({
    limit: 20,
    // Found, and gone before its states are read.
    onRead: async ({ states }) => states === 'both' && (await compact(made[2])),
  });
  expect(revisionsOf(page.entries)).toEqual(newestFirst(made.slice(3)));
  expect(page.next).toBeUndefined();
});

test('what since= asks for and is compacted meanwhile is 410, and says where history begins now', async () => {
  await compact(made[0]);
  const onRead = (): Promise<unknown> => compact(made[4]);
  await expect(list({ query: `since=${made[2]}`, onRead })).rejects.toMatchObject({
    status: { code: 410, message: expect.stringMatching(/^since: history is kept from revision \d+ \(/) },
  });
});

test('states=true brings each state as it was stored, but no Secret to a client that may only list them', async () => {
  const key = { group: '', resource: 'secrets', namespace: 'default', name: 'password' };
  made.push(await log.committer.commit({ ...write('create', 'password'), key }));
  const [first] = made;
  made.push(await log.committer.commit(write('delete', 'n0', first)));
  const statesOf = async (authorizer: Authorizer): Promise<unknown[]> =>
    (await list({ query: 'states=true', authorizer })).entries.map(({ json }) => JSON.parse(`${json}`).state);
  const object = (name: string, revision: Revision | undefined) => ({
    ...{ kind: 'ConfigMap', apiVersion: 'v1', data: { data: 'x' } },
    metadata: { name, namespace: 'default', resourceVersion: String(revision) },
  });
  const n7 = object('n7', made[7]);
  expect(await statesOf(alwaysAllow)).toEqual([undefined, object('password', made[8]), n7]);
  const mayList: Authorizer = {
    ...alwaysAllow,
    authorize: (asked) => (asked.verb === 'list' ? alwaysAllow : alwaysDeny).authorize(asked),
  };
  expect(await statesOf(mayList)).toEqual([undefined, undefined, n7]);
  expect((await list()).entries.some(({ json }) => `${json}`.includes('"state"'))).toBe(false);
});
