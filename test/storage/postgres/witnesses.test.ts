import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import { NO_REVISION, type Revision } from '../../../src/storage/revision.ts';
import { createTestDatabase, type PrivatePostgres, startPrivatePostgres } from '../../postgres.ts';
import { startStandby, takeBackup } from './copies.ts';
import { openLog, write } from './kit.ts';
import { LATEST, listNames, startServer, writeMany } from './served-log.ts';
import { connect } from './stalls.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
const COMPACTED = { failure: { kind: 'compacted' } };
const LONG_MS = 90_000;
const REASONS = 'SELECT reason FROM epochs WHERE epoch > 0 ORDER BY epoch';

function folderOfFiles(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-witness-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function reasons({ url }: Pick<PrivatePostgres, 'url'>): Promise<string[]> {
  await using session = await connect(url);
  return (await session.query<{ reason: string }>(REASONS)).map(({ reason }) => reason);
}

const last = (revisions: readonly Revision[]): Revision => revisions.at(-1) ?? NO_REVISION;

test('a volume that went back while no server ran gives no number out twice, and one that did not begins no history', {
  tags: 'long',
  timeout: LONG_MS,
}, async () => {
  const folder = folderOfFiles();
  const witnessFile = join(folder, 'first.json');
  await using postgres = await startPrivatePostgres();
  const urls = [postgres.url];
  const given: Revision[] = [];
  {
    await using server = await startServer(urls, { witnessFile });
    given.push(...(await writeMany(server, 'kept', 2)));
  }
  await postgres.stop();
  const backup = await takeBackup(postgres);
  await postgres.start();
  {
    await using server = await startServer(urls, { witnessFile });
    expect(await reasons(postgres)).toEqual([]);
    given.push(...(await writeMany(server, 'lost', 3)));
    // A server that lives through it vouches.
    await postgres.stop();
    await postgres.start();
    await listNames(server);
    expect(await reasons(postgres)).toEqual([]);
  }
  await postgres.stop();
  await backup.putBack();
  await postgres.start();
  {
    await using server = await startServer(urls, { witnessFile });
    expect(await reasons(postgres)).toEqual([`revision ${last(given)} is gone`]);
    expect(await listNames(server)).toEqual(['kept-0', 'kept-1']);
    for (const revision of given) await expect(server.watchFrom(revision)).rejects.toMatchObject(COMPACTED);
    expect(last(await writeMany(server, 'later', 1))).toBeGreaterThan(last(given) + 1_000_000n);
  }
  await postgres.stop();
  await postgres.start();
  // All the others are gone, with their files.
  await using other = await startServer(urls, { witnessFile: join(folder, 'other.json') });
  expect((await reasons(postgres)).at(-1)).toBe(
    'PostgreSQL was started again, and no server vouches for its history',
  );
  expect(await listNames(other)).toEqual(['kept-0', 'kept-1', 'later-0']);
});

test('a switchover that lost nothing begins no history: all servers vouch for it, and watches go on', {
  tags: 'long',
  timeout: LONG_MS,
}, async () => {
  const folder = folderOfFiles();
  await using primary = await startPrivatePostgres();
  await using standby = await startStandby(primary);
  const urls = [primary.url, standby.url];
  await using one = await startServer(urls, { witnessFile: join(folder, 'one.json') });
  await using two = await startServer(urls, { witnessFile: join(folder, 'two.json') });
  const first = last(await writeMany(one, 'before', 3));
  await using session = await connect(primary.url);
  const alive = 'SELECT FROM witnesses';
  await vi.waitFor(async () => expect(await session.query(alive)).toHaveLength(2), PATIENCE);
  const ended: unknown[] = [];
  for (const { watchFrom } of [one, two]) watchFrom(first).catch((error: unknown) => ended.push(error));
  await primary.stop();
  await standby.promote();

  expect(await listNames(two)).toEqual(['before-0', 'before-1', 'before-2']);
  const after = last(await writeMany(one, 'after', 1));
  expect(after).toBeLessThan(first + 1000n);
  await vi.waitFor(async () => expect((await two.cache.list(LATEST)).revision).toBe(after), PATIENCE);
  expect(ended).toEqual([]);
  expect(await reasons(standby)).toEqual([]);
});

test('a new timeline is used when all that lived vouch for it, and is another history when one of them does not', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const vouch = 'SELECT epoch > 0 AS began, awaits FROM vouch_history($1, $2, gen_random_uuid(), 0, true)';
  for (const outcome of ['both', 'one is gone', 'one has seen more'] as const) {
    await using database = await createTestDatabase();
    const { query } = database;
    await query("UPDATE epochs SET timeline = '00000000'");
    await query("UPDATE history_place SET place = '00000000 1'");
    await query("INSERT INTO witnesses SELECT s, '00000000 1', now() FROM unnest($1::uuid[]) s", [
      [one, two],
    ]);
    // One that died long before is not waited for.
    await query("INSERT INTO witnesses VALUES (gen_random_uuid(), '00000000 1', now() - interval '30 s')");
    expect(await query(vouch, [one, null])).toEqual([{ began: false, awaits: true }]);
    await expect(query('SELECT keep_epoch(NULL, NULL)')).rejects.toMatchObject({ code: '40001' });
    if (outcome === 'one is gone')
      await query("UPDATE history_place SET asked_at = asked_at - interval '11 s'");
    const [again] = await query(
      vouch,
      outcome === 'one is gone' ? [one, null] : [two, outcome === 'both' ? null : '7'],
    );
    expect([outcome, again]).toEqual([outcome, { began: outcome !== 'both', awaits: false }]);
    const state =
      'SELECT count(*)::int AS epochs, bool_or(timeline = database_timeline()) AS here FROM epochs';
    expect(await query(state)).toEqual([{ epochs: outcome === 'both' ? 1 : 2, here: true }]);
    expect(await query('SELECT place = database_place() AS here FROM history_place')).toEqual([
      { here: true },
    ]);
  }
});

test('an epoch that is begun by hand ends the watches of servers to which nothing is written', async () => {
  await using database = await createTestDatabase();
  await using server = await startServer([database.url]);
  const first = last(await writeMany(server, 'a', 1));
  const watching = expect(server.watchFrom(first)).rejects.toMatchObject(COMPACTED);
  const connection = { urls: [database.url], poolSize: 1 };
  const epoch = await setUpDatabase(connection, ({ beginEpoch }) => beginEpoch('a restore'));
  await watching;
  expect(epoch).toBeGreaterThan(first + 1_000_000n);
  expect((await server.cache.list(LATEST)).revision).toBe(epoch);
});

test('a watch from beyond all that the database has ends with 410, and one from what the stream has yet to bring goes on', async () => {
  await using database = await createTestDatabase();
  await using server = await startServer([database.url]);
  const first = last(await writeMany(server, 'a', 1));
  await expect(server.watchFrom((first + 5n) as Revision)).rejects.toMatchObject(COMPACTED);
  const other = openLog(database.url);
  const ended: unknown[] = [];
  for (const name of ['b', 'c', 'd']) {
    const reported = await other.committer.commit(write('create', name));
    server.watchFrom(reported).catch((error: unknown) => ended.push(error));
    await vi.waitFor(() => expect(server.cache.applied).toBeGreaterThanOrEqual(reported), PATIENCE);
  }
  expect(ended).toEqual([]);
  await other.close();
});
