import { expect, test, vi } from 'vitest';
import { StorageError } from '../../../src/storage/errors.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { startBlackHole } from '../../kit/black-hole.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { createTestDatabase, startPrivatePostgres } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';
import { connect } from './stalls.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const KEY = { ...CONFIG_MAPS, namespace: 'default', name: 'a' };

const kindOf = (error: unknown): string =>
  error instanceof StorageError ? error.failure.kind : String(error);

/** What a server writes to its log of the database. */
function openLogged(url: string, urls: readonly string[] = [url]) {
  const lines: string[] = [];
  const onTrouble = (line: string): void => void lines.push(line);
  const log = openLog(url, { urls, onTrouble });
  return { log, lines, about: (subject: string) => lines.filter((line) => line.startsWith(subject)) };
}

test('while no slot is to be had changes are polled; when one is free it is taken; the log has a line for each', async () => {
  await using postgres = await startPrivatePostgres({ settings: ['max_replication_slots=1'] });
  await using session = await connect(postgres.url);
  await session.query("SELECT pg_create_physical_replication_slot('others')");
  const { log, about } = openLogged(postgres.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  for (const name of ['a', 'b', 'c'])
    await recorder.reached(await log.committer.commit(write('create', name)));
  // A commit wakes the poll, so that the first changes are here before the first attempt has failed.
  const inVain = { mode: 'polling', reason: 'all replication slots are in use' };
  await vi.waitFor(() => expect(log.feed.state).toMatchObject(inVain), PATIENCE);
  // Several attempts have been in vain by now, or will have been.
  await session.query("SELECT pg_drop_replication_slot('others')");
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  await recorder.reached(await log.committer.commit(write('create', 'd')));
  expect(recorder.changes.map(({ key }) => key.name)).toEqual(['a', 'b', 'c', 'd']);
  expect(about('the stream of changes')).toEqual([
    'the stream of changes: lost: all replication slots are in use; changes are polled',
    expect.stringMatching(/^the stream of changes: back after .* s and \d+ attempts?$/),
  ]);
  stop.abort();
  await running;
  await log.close();
});

test('a consistent read is answered within 3 s when the network goes silent, and served again when it is back', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using network = await startBlackHole(database.url);
  const { log, about } = openLogged(network.url);
  const store = new WatchCache({ ...log, fieldsOf: () => () => ({}) });
  const stop = new AbortController();
  const running = store.run(stop.signal);
  await store.ready();
  await log.committer.commit(write('create', 'a'));
  const read = (): Promise<unknown> => store.get(KEY, { kind: 'latest' });
  expect(await read()).toMatchObject({ name: 'a' });
  network.swallow();
  const begunAtMs = performance.now();
  const answers = await Promise.all(Array.from({ length: 20 }, () => read().catch(kindOf)));
  expect(new Set(answers)).toEqual(new Set(['unavailable']));
  expect(performance.now() - begunAtMs).toBeLessThan(4500);
  expect(await store.get(KEY, { kind: 'any' })).toMatchObject({ name: 'a' });
  network.release();
  await vi.waitFor(async () => expect(await read()).toMatchObject({ name: 'a' }), PATIENCE);
  expect(about('reads')).toHaveLength(2);
  stop.abort();
  await running;
  await log.close();
});

test('replays that hang do not hold up fresh reads, the tail or upkeep', async () => {
  await using database = await createTestDatabase();
  const { log } = openLogged(database.url);
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  const first = await log.committer.commit(write('create', 'a'));
  await recorder.reached(first);
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  // New connections look at what is about to be locked.
  await log.reader.currentRevision();
  await log.leases.renew({ address: '127.0.0.1', port: 1 }, 1000);
  await using holder = await connect(database.url);
  await holder.query('BEGIN; LOCK TABLE compaction IN ACCESS EXCLUSIVE MODE');
  const range = { resource: CONFIG_MAPS, scope: {}, after: NO_REVISION, upTo: first, limit: 10 };
  const replays = Array.from({ length: 50 }, () => log.reader.changesBetween(range));
  await vi.waitFor(() => expect(log.pool().waiting).toBeGreaterThan(40), PATIENCE);
  expect(await log.reader.currentRevision()).toBe(first);
  const second = await log.committer.commit(write('create', 'b'));
  await recorder.reached(second);
  await log.leases.renew({ address: '127.0.0.1', port: 1 }, 1000);
  await log.ping(2000);
  await holder.query('ROLLBACK');
  for (const changes of await Promise.all(replays)) expect(changes).toHaveLength(1);
  stop.abort();
  await running;
  await log.close();
});

test('of several hosts the last good one is tried first: one that is silent is found out once', {
  tags: 'long',
}, async () => {
  await using database = await createTestDatabase();
  await using silent = await startBlackHole(database.url);
  silent.swallow();
  const { log } = openLogged(database.url, [silent.url, database.url]);
  await log.committer.commit(write('create', 'a'));
  const { connections } = silent;
  const stop = new AbortController();
  const recorder = new Recorder();
  const running = log.feed.run(NO_REVISION, recorder, stop.signal);
  await recorder.reached(await log.committer.commit(write('create', 'b')));
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  await log.reader.currentRevision();
  await log.reader.get(KEY);
  await database.query(`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'pg-apiserver%' AND datname = current_database()`);
  await log.committer.commit(write('create', 'c'));
  await vi.waitFor(() => log.reader.currentRevision(), PATIENCE);
  expect(silent.connections).toBe(connections);
  stop.abort();
  await running;
  await log.close();
});

test('a database that was made read-only is read, and one line reports failing writes until they are back', async () => {
  await using database = await createTestDatabase();
  const { log, lines, about } = openLogged(database.url);
  await log.committer.commit(write('create', 'a'));
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await database.query(`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE application_name LIKE 'pg-apiserver%' AND datname = current_database()`);
  const patient = log.committer.commit(write('create', 'b'));
  await vi.waitFor(() => expect(about('writes')).toHaveLength(1), PATIENCE);
  const impatient = openLog(database.url, { writePatienceMs: 300 });
  const failure = { kind: 'unavailable', because: 'writes' };
  // A first connection may take longer than its patience: then the write is refused before the reason is known.
  await vi.waitFor(
    () => expect(impatient.committer.commit(write('create', 'c'))).rejects.toMatchObject({ failure }),
    PATIENCE,
  );
  await impatient.close();
  await vi.waitFor(async () => expect(await log.reader.get(KEY)).toMatchObject({ key: KEY }), PATIENCE);
  expect(await log.reader.currentRevision()).toBeGreaterThan(NO_REVISION);
  await using writer = await connect(database.url);
  await writer.query('SET default_transaction_read_only = off');
  await writer.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await patient;
  expect(about('writes')).toEqual([
    expect.stringMatching(/^writes: lost: /),
    expect.stringMatching(/^writes: back after /),
  ]);
  expect(lines.length).toBeLessThan(6);
  await log.close();
});

test('a full disk refuses writes at once, with one line, and what is there is read', async () => {
  await using database = await createTestDatabase();
  const { log, about } = openLogged(database.url);
  await log.committer.commit(write('create', 'a'));
  await database.query(`
    CREATE FUNCTION fill_up() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`);
  await database.query(
    'CREATE TRIGGER full_disk BEFORE INSERT ON revisions FOR EACH STATEMENT EXECUTE FUNCTION fill_up()',
  );
  for (const name of ['b', 'c', 'd']) {
    const failed = log.committer.commit(write('create', name));
    await expect(failed).rejects.toMatchObject({ failure: { kind: 'unavailable', because: 'disk' } });
  }
  expect(await log.reader.get(KEY)).toMatchObject({ key: KEY });
  await database.query('DROP TRIGGER full_disk ON revisions');
  await log.committer.commit(write('create', 'b'));
  expect(about('writes')).toEqual([
    'writes: lost: could not extend file: No space left on device',
    expect.stringMatching(/^writes: back after .* s and 3 attempts$/),
  ]);
  await log.close();
});

test('a write that meets a migration is made once more before it is refused, and what is still to come is waited for', async () => {
  await using database = await createTestDatabase();
  const { log, about } = openLogged(database.url);
  await log.committer.commit(write('create', 'a'));
  // As a function of before meets a constraint of now, for the first of two attempts: sequences do not roll back.
  await database.query(`
    CREATE SEQUENCE attempts;
    CREATE FUNCTION of_before() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('attempts') = 1 THEN RAISE 'revisions_follow' USING ERRCODE = '23505'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER of_before BEFORE INSERT ON revisions FOR EACH STATEMENT EXECUTE FUNCTION of_before()`);
  await log.committer.commit(write('create', 'b'));
  expect(about('writes')).toEqual([
    'writes: lost: revisions_follow',
    expect.stringMatching(/^writes: back after .* s and 1 attempt$/),
  ]);
  await database.query('ALTER TABLE work_leases RENAME TO work_leases_to_come');
  const waits = /^relation "work_leases" does not exist: a migration that waits for servers/;
  await expect(log.workLeases.read('upkeep')).rejects.toMatchObject({
    failure: { kind: 'unavailable', because: 'schema', reason: expect.stringMatching(waits) },
  });
  await database.query('ALTER TABLE work_leases_to_come RENAME TO work_leases');
  expect(await log.workLeases.read('upkeep')).toBeUndefined();
  await log.close();
});
