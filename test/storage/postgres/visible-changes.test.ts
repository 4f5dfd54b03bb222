import { expect, test, vi } from 'vitest';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { startPrivatePostgres } from '../../postgres.ts';
import { CONFIG_MAPS, Reader, readWatch } from '../watch-cache/kit.ts';
import { startStandby } from './copies.ts';
import { openLog, write } from './kit.ts';
import { connect, releaseCommits, stallCommits, stalled } from './stalls.ts';

const PATIENCE = { timeout: 60_000, interval: 5 };
const LATEST = { resource: CONFIG_MAPS, scope: {}, freshness: { kind: 'latest' }, limit: 0 } as const;

/** A server's storage, which has begun to follow the log. */
async function startServer(urls: readonly string[]) {
  const log = openLog(urls[0] ?? '', { urls });
  const cache = new WatchCache({ ...log, fieldsOf: () => () => ({}) });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  await cache.ready();
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  const watched = new Reader();
  const { revision: after } = await cache.list(LATEST);
  const start = { kind: 'after', revision: after } as const;
  const watching = readWatch(cache, { reader: watched, start }, stop.signal).catch(() => {});
  return {
    log,
    cache,
    watched,
    names: async () => (await cache.list(LATEST)).entries.map(({ name }) => name),
    /** Resolves when the stream has brought a transaction after `applied`, shown or not. */
    brought: (applied: bigint) =>
      vi.waitFor(() => {
        const { applied: shown, held } = log.feed.state;
        expect(held > 0 || shown > applied).toBe(true);
      }, PATIENCE),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.all([running, watching]);
      await log.close();
    },
  };
}

type Server = Awaited<ReturnType<typeof startServer>>;

/** Their question about the setting is a second old at most; what they do with the answer can be seen. */
async function knowOfStandbys(servers: readonly Server[]): Promise<void> {
  await vi.waitFor(
    () => expect(servers.map(({ log }) => log.feed.state.holds)).toEqual(servers.map(() => true)),
    PATIENCE,
  );
}

test('what waits for a standby is shown by no server, neither to reads nor to watches, and then by all', {
  tags: 'long',
}, async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  await using a = await startServer([postgres.url]);
  await using b = await startServer([postgres.url]);
  const first = await a.cache.commit(write('create', 'first'));
  for (const server of [a, b]) await server.watched.reached(1);
  await stallCommits(session);
  await knowOfStandbys([a, b]);
  const stalling = a.cache.commit(write('create', 'stalled'));
  await stalled(session);
  for (const server of [a, b]) await server.brought(first);
  for (const server of [a, b]) {
    expect(await server.names()).toEqual(['first']);
    expect(server.cache.state.applied).toBe(first);
    expect(server.watched.lines).toEqual([`ADDED first ${first}`]);
  }
  await releaseCommits(session);
  const revision = await stalling;
  for (const server of [b, a]) {
    expect(await server.names()).toEqual(['first', 'stalled']);
    await server.watched.reached(2);
    expect(server.watched.lines).toEqual([`ADDED first ${first}`, `ADDED stalled ${revision}`]);
  }
});

test('a server that is asked nothing shows a change when its standby has it', async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  await stallCommits(session);
  await using silent = await startServer([postgres.url]);
  await knowOfStandbys([silent]);
  const { applied } = silent.log.feed.state;
  const writer = openLog(postgres.url);
  const stalling = writer.committer.commit(write('create', 'a'));
  await stalled(session);
  await silent.brought(applied);
  await releaseCommits(session);
  await silent.watched.reached(1);
  expect(silent.watched.lines).toEqual([`ADDED a ${await stalling}`]);
  await writer.close();
});

test('a commit that a promotion loses because no standby had it was never shown', {
  tags: 'long',
}, async () => {
  await using primary = await startPrivatePostgres();
  await using standby = await startStandby(primary);
  await using server = await startServer([primary.url, standby.url]);
  const kept = await server.cache.commit(write('create', 'kept'));
  await server.watched.reached(1);
  await using replica = await connect(standby.url);
  await vi.waitFor(
    async () => expect(await replica.query('SELECT FROM revisions')).toHaveLength(1),
    PATIENCE,
  );
  await using session = await connect(primary.url);
  await stallCommits(session);
  await knowOfStandbys([server]);
  await standby.cutOff();
  const lost = server.cache.commit(write('create', 'lost')).catch(() => {});
  await stalled(session);
  await server.brought(kept);
  await primary.kill();
  await standby.promote();
  // The standbys of the lost primary are gone.
  await vi.waitFor(async () => {
    await replica.query("ALTER SYSTEM SET synchronous_standby_names = ''");
    await replica.query('SELECT pg_reload_conf()');
  }, PATIENCE);
  await lost;
  expect(server.watched.lines).toEqual([`ADDED kept ${kept}`]);
});

test('a change that is held when a new epoch begins is not shown, with the log at any point', {
  tags: 'long',
}, async () => {
  await using postgres = await startPrivatePostgres();
  await using session = await connect(postgres.url);
  await using server = await startServer([postgres.url]);
  const kept = await server.cache.commit(write('create', 'kept'));
  await server.watched.reached(1);
  await stallCommits(session);
  await knowOfStandbys([server]);
  const writer = openLog(postgres.url);
  const lost = writer.committer.commit(write('create', 'lost'));
  await stalled(session);
  await server.brought(kept);
  // What another server leaves that has found commits missing: no standby is waited for, so that it is there at once.
  const epoch = kept + 1_000_000_000n;
  await session.query('SET synchronous_commit = local');
  await session.query(
    `WITH begun AS (SELECT setval('revisions_revision_seq', $1))
     INSERT INTO epochs SELECT $1, database_system(), database_timeline(), now(), 'lost commits' FROM begun`,
    [String(epoch)],
  );
  expect(await server.log.reader.currentRevision()).toBe(epoch);
  await vi.waitFor(() => expect(server.cache.state.applied).toBe(epoch), PATIENCE);
  expect(server.watched.lines).toEqual([`ADDED kept ${kept}`]);
  expect(await server.names()).toEqual(['kept']);
  await releaseCommits(session);
  await lost;
  await writer.close();
});

test('without commits that wait for standbys nothing is held', async () => {
  await using postgres = await startPrivatePostgres();
  await using server = await startServer([postgres.url]);
  const writer = openLog(postgres.url);
  const revision = await writer.committer.commit(write('create', 'a'));
  await server.watched.reached(1);
  expect(server.watched.lines).toEqual([`ADDED a ${revision}`]);
  expect(server.log.feed.state).toMatchObject({ holds: false, held: 0, applied: revision });
  await writer.close();
});
