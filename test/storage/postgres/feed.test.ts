import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { keepHistory, openLog, Recorder, write } from './kit.ts';

function cutTail(database: TestDatabase): Promise<unknown> {
  return database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'walsender' AND datname = current_database()",
  );
}

const COMMIT_OF_ANOTHER = `
  SELECT accepted FROM commit_revisions(
    ARRAY['{"metadata":{}}']::json[], ARRAY['create'], ARRAY[''], ARRAY['configmaps'], ARRAY['default'], ARRAY['other'], ARRAY['uid'],
    ARRAY[0]::bigint[], ARRAY[gen_random_uuid()], ARRAY[NULL]::timestamptz[], ARRAY[''], ARRAY[''], ARRAY[''], ARRAY[''], ARRAY[''],
    NULL, NULL, now(), NULL, NULL)`;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a tail that is cut again and again misses nothing and repeats nothing', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  const written: Revision[] = [];
  for (let n = 0; n < 250; n += 1) {
    written.push(await log.committer.commit(write('create', `w${n}`)));
    if (n % 40 === 20) await cutTail(database);
    await pause(10);
  }
  await recorder.reached(written.at(-1) ?? NO_REVISION);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual(written);
  stop.abort();
  await running;
  await log.close();
});

test('the stream, the table and the reader tell the same of a change', async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const stop = new AbortController();
  const streamed = new Recorder();
  const running = log.feed.run(NO_REVISION, streamed, stop.signal);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  const created = await log.committer.commit(
    write('create', 'a', undefined, `NUL \0 and ${'long '.repeat(3000)}`),
  );
  const updated = await log.committer.commit(write('update', 'a', created));
  await log.committer.commit(write('delete', 'a', updated));
  const current = await log.reader.currentRevision();
  await streamed.reached(current);
  const page = await log.reader.tailPage(NO_REVISION, 10);
  expect(streamed.changes).toEqual(page.changes);
  const range = {
    resource: { group: '', resource: 'configmaps' },
    scope: {},
    after: NO_REVISION,
    upTo: current,
  };
  const changes = await log.reader.changesBetween({ ...range, limit: 10 });
  expect(changes).toMatchObject(page.changes);
  expect(changes.map(({ previousJson }) => previousJson?.length)).toEqual([
    undefined,
    changes[0]?.json.length,
    changes[1]?.json.length,
  ]);
  stop.abort();
  await running;
  await log.close();
});

test('without the right to replicate the table is polled, and the stream is taken up once the right is there', async () => {
  await using database = await createTestDatabase();
  const role = `poller_${randomBytes(4).toString('hex')}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await database.query('SELECT grant_server($1)', [role]);
  const url = new URL(database.url);
  url.username = role;
  url.password = 'secret';
  const troubles: string[] = [];
  const log = openLog(url.href, { onTrouble: (message) => troubles.push(message) });
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  const first = await log.committer.commit(write('create', 'a'));
  await recorder.reached(first);
  await vi.waitFor(() => expect(troubles).toHaveLength(1), PATIENCE);
  expect(log.feed.state).toMatchObject({ mode: 'polling', applied: first });
  expect(log.feed.state.reason).toMatch(/may not replicate/);
  await database.query(`ALTER ROLE ${role} REPLICATION`);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  const second = await log.committer.commit(write('create', 'b'));
  await recorder.reached(second);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual([first, second]);
  stop.abort();
  await running;
  await log.close();
  await database.query(`DROP OWNED BY ${role}`);
  await database.query(`DROP ROLE ${role}`);
});

test('while an open transaction holds up the slot, changes arrive all the same', async () => {
  await using database = await createTestDatabase();
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT pg_current_xact_id()');
  const log = openLog(database.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  const first = await log.committer.commit(write('create', 'a'));
  await recorder.reached(first);
  expect(log.feed.state).toMatchObject({ mode: 'polling', reason: 'waiting for a replication slot' });
  await holder.query('COMMIT');
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  const second = await log.committer.commit(write('create', 'b'));
  await recorder.reached(second);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual([first, second]);
  await holder.end();
  stop.abort();
  await running;
  await log.close();
});

test.each(['gone', 'replaced'])(
  'a database that lost commits is noticed when the last one is %s',
  async (what) => {
    await using database = await createTestDatabase();
    const log = openLog(database.url);
    const stop = new AbortController();
    const recorder = new Recorder(() => log.reader.currentRevision());
    const running = log.feed.run(NO_REVISION, recorder, stop.signal);
    // While it still polls, it may notice by itself, before there is a replacement.
    await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
    const kept = await log.committer.commit(write('create', 'kept'));
    const lost = await log.committer.commit(write('create', 'lost'));
    await recorder.reached(lost);
    // What a failover to a standby that lagged behind looks like; at once, because the tail looks for itself now and then.
    const losing = `
      DELETE FROM objects WHERE revision > ${kept};
      DELETE FROM revisions WHERE revision > ${kept};
      SELECT setval('revisions_revision_seq', ${kept})`;
    // By a server that has just started: it cannot know.
    await database.query(what === 'gone' ? losing : `${losing}; ${COMMIT_OF_ANOTHER}`);
    if (what === 'replaced') {
      const rows = await database.query('SELECT name FROM revisions WHERE revision = $1', [lost.toString()]);
      expect(rows).toEqual([{ name: 'other' }]);
    }
    await cutTail(database);
    await vi.waitFor(() => expect(recorder.resets).toEqual(['rewound']), PATIENCE);
    const next = await log.committer.commit(write('create', 'next'));
    await vi.waitFor(
      () => expect(recorder.changes.at(-1)).toMatchObject({ key: { name: 'next' }, revision: next }),
      PATIENCE,
    );
    stop.abort();
    await running;
    await log.close();
  },
);

test('a tail from before the kept history begins afresh', async () => {
  await using database = await createTestDatabase();
  await keepHistory(database, '0');
  const log = openLog(database.url);
  const first = await log.committer.commit(write('create', 'a'));
  const second = await log.committer.commit(write('update', 'a', first));
  await log.committer.commit(write('update', 'a', second));
  const stop = new AbortController();
  await log.compactor.compact(stop.signal);
  const recorder = new Recorder(() => log.reader.currentRevision());
  const running = log.feed.run(first, recorder, stop.signal);
  await vi.waitFor(() => expect(recorder.resets).toEqual(['compacted']), PATIENCE);
  const next = await log.committer.commit(write('create', 'b'));
  await recorder.reached(next);
  expect(recorder.changes.map(({ revision }) => revision)).toEqual([next]);
  stop.abort();
  await running;
  await log.close();
});

test('nothing is left behind by a tail that has ended', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  const stop = new AbortController();
  const running = log.feed.run(NO_REVISION, new Recorder(), stop.signal);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  stop.abort();
  await running;
  await log.close();
  const text = 'SELECT slot_name FROM pg_replication_slots WHERE database = current_database()';
  await vi.waitFor(async () => expect(await database.query(text)).toEqual([]), PATIENCE);
});

test('a tail may be stopped at any moment, also while it connects', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  const log = openLog(database.url);
  for (let afterMs = 0; afterMs < 60; afterMs += 3) {
    const stop = new AbortController();
    const running = log.feed.run(NO_REVISION, new Recorder(), stop.signal);
    await pause(afterMs);
    stop.abort();
    await running;
  }
  await log.close();
  const text = 'SELECT slot_name FROM pg_replication_slots WHERE database = current_database()';
  await vi.waitFor(async () => expect(await database.query(text)).toEqual([]), PATIENCE);
});
