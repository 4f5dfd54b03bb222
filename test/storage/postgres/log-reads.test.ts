import pg from 'pg';
import { expect, test } from 'vitest';
import type { History, LogQuery } from '../../../src/storage/history.ts';
import { PostgresHistory } from '../../../src/storage/postgres/history.ts';
import { TEXT_TYPES } from '../../../src/storage/postgres/statements.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, write } from './kit.ts';

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

test('pages join without a gap, in both directions, whatever they leave out', async () => {
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

test('a page with states ends before it is too large, and the next goes on where it ended', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const large = 'x'.repeat(1_000_000);
  let revision = await log.committer.commit(write('create', 'a', undefined, large));
  for (let at = 0; at < 8; at += 1)
    revision = await log.committer.commit(write('update', 'a', revision, `${at}${large}`));
  const first = await log.history.rows({ ...USUAL, name: 'a', states: 'both' });
  expect(first.rows.length).toBeLessThan(9);
  const { next } = first;
  expect(next).toBe(first.rows.at(-1)?.revision);
  const upTo = ((next ?? 0n) - 1n) as Revision;
  const rest = await log.history.rows({ ...USUAL, name: 'a', states: 'both', upTo });
  expect(first.rows.length + rest.rows.length).toBe(9);
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
  const pool = new pg.Pool({ connectionString: database.url, types: TEXT_TYPES });
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
