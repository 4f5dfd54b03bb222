import pg from 'pg';
import { expect, test } from 'vitest';
import type { History, LogQuery } from '../../../src/storage/history.ts';
import { TEXT_TYPES } from '../../../src/storage/postgres/connection/statements.ts';
import { PostgresHistory } from '../../../src/storage/postgres/past/postgres-history.ts';
import { type Revision, toRevision } from '../../../src/storage/revision.ts';
import { createTestDatabase, withoutLoss } from '../../postgres.ts';
import { openLog, write } from './kit.ts';
import { makeHistory, pagesOf } from './made-history.ts';

const USUAL = { order: 'newest first', limit: 100, states: 'none' } as const;

const revisionsOf = async (history: History, query: Partial<LogQuery>): Promise<bigint[]> =>
  (await history.rows({ ...USUAL, ...query })).rows.map(({ revision }) => revision);

test('rows of the log are found by object, namespace, resource, who wrote them, request, number and range', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const { history } = log;
  const byBob = { attribution: { ...write('create', 'x').attribution, username: 'bob', requestId: 'one' } };
  const a = await log.committer.commit(write('create', 'a', undefined, 'one'));
  const b = await log.committer.commit({ ...write('create', 'b'), ...byBob });
  const a2 = await log.committer.commit({ ...write('update', 'a', a, 'two'), ...byBob });
  const elsewhere = { group: 'apps', resource: 'deployments', namespace: 'shop', name: 'a' };
  const d = await log.committer.commit({ ...write('create', 'a'), key: elsewhere });
  const gone = await log.committer.commit(write('delete', 'a', a2, 'two'));
  const configMaps = { group: '', resource: 'configmaps' };
  expect(await revisionsOf(history, {})).toEqual([gone, d, a2, b, a]);
  expect(await revisionsOf(history, { order: 'oldest first' })).toEqual([a, b, a2, d, gone]);
  expect(await revisionsOf(history, { resource: configMaps, namespace: 'default', name: 'a' })).toEqual([
    gone,
    a2,
    a,
  ]);
  expect(await revisionsOf(history, { namespace: 'shop' })).toEqual([d]);
  expect(await revisionsOf(history, { resource: configMaps })).toEqual([gone, a2, b, a]);
  expect(await revisionsOf(history, { user: 'bob' })).toEqual([a2, b]);
  expect(await revisionsOf(history, { verb: 'delete' })).toEqual([gone]);
  expect(await revisionsOf(history, { requestId: 'one' })).toEqual([a2, b]);
  expect(await revisionsOf(history, { requestId: 'one', limit: 1, order: 'oldest first' })).toEqual([b]);
  expect(await revisionsOf(history, { requestId: 'one', name: 'a' })).toEqual([a2]);
  expect(await revisionsOf(history, { revisions: [a, gone, 12345n as Revision] })).toEqual([gone, a]);
  const objects = [elsewhere, write('create', 'a').key];
  expect(await revisionsOf(history, { objects })).toEqual([gone, d, a2, a]);
  expect(await revisionsOf(history, { objects, order: 'oldest first', limit: 2, after: a })).toEqual([a2, d]);
  expect(await revisionsOf(history, { after: a, upTo: d })).toEqual([d, a2, b]);
  expect(await revisionsOf(history, { upTo: (2n ** 64n - 1n) as Revision })).toEqual([gone, d, a2, b, a]);
  expect(await revisionsOf(history, { revisions: [(2n ** 64n - 1n) as Revision] })).toEqual([]);
  expect(await history.newest()).toBe(gone);
  await log.close();
});

test('small rows bring large states before them no faster than pages do', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const names = [...'abcdefghijklmnop'];
  const large: Revision[] = [];
  for (const name of names)
    large.push(await log.committer.commit(write('create', name, undefined, 'x'.repeat(6000))));
  const small: Revision[] = [];
  for (const [at, name] of names.entries())
    small.push(await log.committer.commit(write('update', name, large[at])));
  const seen: (readonly [bigint, boolean])[] = [];
  const sizes: number[] = [];
  for (let upTo: Revision | undefined = small.at(-1); upTo !== undefined; ) {
    const { rows, next } = await log.history.rows({ ...USUAL, upTo, states: 'both', mostBytes: 10_000 });
    seen.push(...rows.map(({ revision, previousJson }) => [revision, previousJson !== undefined] as const));
    sizes.push(
      rows.reduce((sum, { json, previousJson }) => sum + json.length + (previousJson?.length ?? 0), 0),
    );
    upTo = next === undefined ? undefined : toRevision(next - 1n);
  }
  expect(seen).toEqual([
    ...small.toReversed().map((revision) => [revision, true]),
    ...large.toReversed().map((revision) => [revision, false]),
  ]);
  expect(Math.max(...sizes)).toBeLessThan(40_000);
  await log.close();
});

test('a row says who wrote it and when, and brings the states that are asked for', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const first = write('create', 'a', undefined, 'one');
  const created = await log.committer.commit(first);
  const second = write('update', 'a', created, 'two');
  const updated = await log.committer.commit(second);
  const [row] = (await log.history.rows({ ...USUAL, revisions: [updated], states: 'both' })).rows;
  expect(row).toMatchObject({
    key: { group: '', resource: 'configmaps', namespace: 'default', name: 'a' },
    ...{ verb: 'update', revision: updated, previous: created, uid: second.uid },
    attribution: second.attribution,
  });
  expect(row?.json.toString()).toBe(second.json.toString());
  expect(row?.previousJson?.toString()).toBe(first.json.toString());
  const [at] = await database.query<{ at: string }>(
    `SELECT committed_at::text AS at FROM revisions WHERE revision = ${updated}`,
  );
  expect(row?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  const [same] = await database.query('SELECT $1::timestamptz::text AS at', [row?.at]);
  expect(same).toEqual(at);
  const [alone] = (await log.history.rows({ ...USUAL, revisions: [updated], states: 'written' })).rows;
  expect([alone?.json.length, alone?.previousJson]).toEqual([second.json.length, undefined]);
  const [bare] = (await log.history.rows({ ...USUAL, revisions: [updated] })).rows;
  expect([bare?.json.length, bare?.previousJson]).toEqual([0, undefined]);
  await log.close();
});

test('pages join without a gap, in both directions, with every filter', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const written: Revision[] = [];
  for (let at = 0; at < 9; at += 1) {
    const one = write('create', `n${at}`);
    const username = at % 3 === 0 ? 'bob' : 'ann';
    written.push(
      await log.committer.commit({
        ...one,
        attribution: { ...one.attribution, username, requestId: username },
      }),
    );
  }
  for (const query of [{}, { user: 'ann' }, { requestId: 'ann' }, { namespace: 'default' }]) {
    const all = await revisionsOf(log.history, query);
    const found: Revision[] = [];
    for (let upTo: Revision | undefined; ; ) {
      const page = await log.history.rows({
        ...USUAL,
        ...query,
        limit: 2,
        ...(upTo === undefined ? {} : { upTo }),
      });
      found.push(...page.rows.map(({ revision }) => revision));
      if (page.next === undefined) break;
      upTo = (page.next - 1n) as Revision;
    }
    expect(found).toEqual(all);
    const forth: Revision[] = [];
    for (let after: Revision | undefined; ; ) {
      const page = await log.history.rows({
        ...{ ...USUAL, ...query, order: 'oldest first', limit: 2 },
        ...(after === undefined ? {} : { after }),
      });
      forth.push(...page.rows.map(({ revision }) => revision));
      if (page.next === undefined) break;
      after = page.next;
    }
    expect(forth.reverse()).toEqual(all);
  }
  await log.close();
});

test('a page with states ends before it is too large, and the next goes on where it ended', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const large = 'x'.repeat(1_000_000);
  let revision = await log.committer.commit(write('create', 'a', undefined, `0${large}`));
  const made = [revision];
  for (let at = 1; at < 12; at += 1) {
    revision = await log.committer.commit(write('update', 'a', revision, `${at}${large}`));
    made.push(revision);
  }
  const first = await log.history.rows({ ...USUAL, name: 'a', states: 'both' });
  expect(first.rows.length).toBeLessThan(10);
  const { next } = first;
  expect(next).toBe(first.rows.at(-1)?.revision);
  const upTo = ((next ?? 0n) - 1n) as Revision;
  const rest = await log.history.rows({ ...USUAL, name: 'a', states: 'both', upTo });
  const rows = [...first.rows, ...rest.rows].toReversed();
  expect(rows.map((row) => row.revision)).toEqual(made);
  const stateOf = (json: Buffer | undefined): string => /"(\d+)x/.exec(json?.toString() ?? '')?.[1] ?? '';
  expect(rows.map(({ json }) => stateOf(json))).toEqual(made.map((_, at) => String(at)));
  // That of the last row of a page is none of the page.
  expect(rows.map(({ previousJson }) => stateOf(previousJson))).toEqual(
    made.map((_, at) => (at === 0 ? '' : String(at - 1))),
  );
  await log.close();
});

test('rows that follow each other share the state between them, and those asked for in any order have theirs', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const a = await log.committer.commit(write('create', 'a', undefined, 'one'));
  const b = await log.committer.commit(write('update', 'a', a, 'two'));
  const c = await log.committer.commit(write('update', 'a', b, 'three'));
  const d = await log.committer.commit(write('delete', 'a', c, 'three'));
  const read = async (revisions: readonly Revision[]) =>
    (await log.history.rows({ ...USUAL, revisions, states: 'both' })).rows;
  const [last, third, second, first] = await read([d, b, a, c]);
  expect(last?.previousJson).toBe(third?.json);
  expect(third?.previousJson).toBe(second?.json);
  expect(second?.previousJson).toBe(first?.json);
  expect(first).not.toHaveProperty('previousGone');
  const [apart] = await read([d, b]);
  expect(apart?.previousJson?.toString()).toBe(third?.json.toString());
  await database.query(`DELETE FROM revisions WHERE revision = ${b}`);
  const [, without] = await read([d, c, b]);
  expect([without?.revision, without?.previousJson, without?.previousGone]).toEqual([c, undefined, true]);
  await log.close();
});

test('what is older than the history that is kept is an error, and is in no page', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const a = await log.committer.commit(write('create', 'a'));
  const b = await log.committer.commit(write('update', 'a', a));
  const c = await log.committer.commit(write('update', 'a', b));
  await database.query('UPDATE compaction SET revision = $1', [b]);
  const compacted = { failure: { kind: 'compacted', compacted: b } };
  await expect(log.history.rows({ ...USUAL, after: a })).rejects.toMatchObject(compacted);
  await expect(log.history.rows({ ...USUAL, revisions: [b] })).rejects.toMatchObject(compacted);
  expect(await revisionsOf(log.history, {})).toEqual([c]);
  expect(await revisionsOf(log.history, { after: b })).toEqual([c]);
  await log.close();
});

test('what the stream brings before SQL sees it is in the page all the same', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const a = await log.committer.commit(write('create', 'a'));
  const pool = withoutLoss(new pg.Pool({ connectionString: database.url, types: TEXT_TYPES }));
  // A commit whose record is written and that is not visible yet becomes so.
  const late: Revision[] = [];
  const reader = {
    currentRevision: () => log.reader.currentRevision(),
    compactedRevision: () => log.reader.compactedRevision(),
    awaitVisible: async () => void late.push(await log.committer.commit(write('create', 'b'))),
  };
  const history = new PostgresHistory(async () => ({ pool, prepares: false }) as never, reader);
  const page = await history.rows({ ...USUAL, after: a, upTo: (a + 1n) as Revision });
  expect(page.rows.map(({ revision }) => revision)).toEqual(late);
  await pool.end();
  await log.close();
});

test('to wait until a revision is visible ends, though there is none yet', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const a = await log.committer.commit(write('create', 'a'));
  await log.reader.awaitVisible((a + 1_000_000n) as Revision);
  expect(await revisionsOf(log.history, { upTo: (a + 1_000_000n) as Revision })).toEqual([a]);
  await log.close();
});

test('a row that is read alone, and kept, keeps no more memory than its states have bytes', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const made = await log.committer.commit(write('create', 'kept'));
  const changed = await log.committer.commit(write('update', 'kept', made));
  const [row] = (
    await log.history.rows({ revisions: [changed], order: 'newest first', limit: 1, states: 'both' })
  ).rows;
  const states = [row?.json, row?.previousJson];
  const kept = new Set(states.map((state) => state?.buffer));
  const keptBytes = [...kept].reduce((sum, memory) => sum + (memory?.byteLength ?? 0), 0);
  expect(keptBytes).toBe(states.reduce((sum, state) => sum + (state?.length ?? 0), 0));
  expect(keptBytes).toBeGreaterThan(0);
  await log.close();
});

test('rows are found along an index, by object, namespace, request and number', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  await database.query("UPDATE compaction SET history_window = '1 hour'");
  await makeHistory(database, { resource: 'leases', objects: 5, rounds: 4, namespace: 'quiet' });
  const before = await makeHistory(database, { resource: 'configmaps', objects: 200, rounds: 200 });
  await log.compactor.indexRequests(new AbortController().signal);
  // What is written to is summed up by autovacuum.
  await database.query(
    "SELECT brin_summarize_new_values(oid) FROM pg_class WHERE relname LIKE '%_by_recent_request' AND relkind = 'i'",
  );
  await database.query('ANALYZE');
  const asked = before + 39_900;
  const [{ id: requestId } = { id: '' }] = await database.query<{ id: string }>(
    `SELECT request_id AS id FROM revisions WHERE revision = ${asked}`,
  );
  let pages = 0;
  const pool = {
    query: async ({ text, values }: pg.QueryConfig) => {
      pages += await pagesOf(database, text, values);
      return { rows: await database.query(text, values) };
    },
  };
  const { reader } = log;
  const history = new PostgresHistory(async () => ({ pool, prepares: false }) as never, reader);
  const resource = { group: '', resource: 'configmaps' };
  const query = { limit: 20, after: toRevision(before - 20) };
  const reads: readonly (readonly [string, Partial<LogQuery>, number])[] = [
    ['an object', { resource, namespace: 'default', name: 'n0007' }, 20],
    ['a quiet namespace', { namespace: 'quiet' }, 20],
    ['a busy namespace', { namespace: 'default' }, 20],
    ['a request', { requestId }, 1],
    ['a number', { revisions: [toRevision(asked)] }, 1],
    ['objects', { objects: [7, 8, 9].map((at) => write('create', `n000${at}`).key) }, 20],
  ];
  for (const [name, read, count] of reads) {
    pages = 0;
    expect(await revisionsOf(history, { ...query, ...read }), name).toHaveLength(count);
    // Of the 40,000 rows, which lie on 2,500 pages, in five partitions.
    expect(pages, name).toBeLessThan(200);
  }
  await log.close();
});
