import pg from 'pg';
import { expect, test } from 'vitest';
import { assertSchema, toClusterSchema } from '../../../src/storage/postgres/connection/cluster-schema.ts';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { setUpDatabase } from '../../../src/storage/postgres/setup.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { createTestDatabase } from '../../postgres.ts';
import { openLog, Recorder, write } from './kit.ts';

test.each([
  ['/registry', undefined],
  ['/team_a', 'cluster_team_a'],
  ['/a/b', /^cluster_a_b__[0-9a-f]{8}$/],
  ['/a_b', 'cluster_a_b'],
  ['/A-B', /^cluster_a_b__[0-9a-f]{8}$/],
  ['/a__b', /^cluster_a_b__[0-9a-f]{8}$/],
  ['/§', /^cluster___[0-9a-f]{8}$/],
  [`/${'x'.repeat(200)}`, /^cluster_x{30}__[0-9a-f]{8}$/],
])('the cluster of %s is kept in the schema %s', (prefix, name) => {
  const schema = toClusterSchema(prefix);
  if (name === undefined) expect(schema).toBeUndefined();
  else expect(schema?.name).toMatch(name);
  for (const one of [schema?.name, schema?.views, schema?.publication])
    expect(one?.length ?? 0).toBeLessThanOrEqual(63);
});

test('prefixes that differ have schemas that differ', () => {
  const prefixes = ['/a/b', '/a_b', '/A_b', '/a-b', '/a.b', '/a__b', '/a_b/', '/public', '/crd', '/x/a_b'];
  const names = prefixes.flatMap((prefix) => {
    const { name, views, publication } = toClusterSchema(prefix) ?? {};
    return [name, views, publication];
  });
  expect(new Set(names).size).toBe(prefixes.length * 3);
});

test('where sessions are shared, the error for a user with another search path says how to set it', async () => {
  const schema = toClusterSchema('/team_a');
  if (schema === undefined) throw new Error('it has a schema');
  await using database = await createTestDatabase({ empty: true });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await expect(assertSchema(client, schema)).rejects.toThrow(
    /^behind a pooler .* --kvstore-prefix=\/team_a needs a user of its own: ALTER ROLE "\w+" SET search_path = cluster_team_a$/,
  );
  await client.query('SET search_path = "cluster_team_a"');
  await assertSchema(client, schema);
  await client.end();
});

const PREFIXES = ['/registry', '/Team-A'];
const CLUSTER = toClusterSchema('/Team-A');

/** A connection as servers of an older version have it, open until it is disposed of. */
async function olderServer(url: string, cluster: string): Promise<AsyncDisposable> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `pg-apiserver tail (schema 1${cluster})`,
  });
  await client.connect();
  return { [Symbol.asyncDispose]: () => client.end() };
}

test('clusters of one database see nothing of each other', { tags: 'long' }, async () => {
  await using database = await createTestDatabase();
  await using ending = new AsyncDisposableStack();
  const clusters: { readonly log: PostgresLog; readonly changes: Recorder; readonly key: string }[] = [];
  const stop = new AbortController();
  const { key } = write('create', 'same');
  for (const [at, prefix] of PREFIXES.entries()) {
    const schema = toClusterSchema(prefix);
    const kept = await setUpDatabase({ urls: [database.url], poolSize: 2, schema }, async (setup) => {
      if (schema !== undefined) {
        await using _others = await olderServer(database.url, '');
        const own = await olderServer(database.url, `, cluster ${schema.tag}`);
        expect(await setup.migrate()).toEqual([]);
        await own[Symbol.asyncDispose]();
        expect(await setup.migrate()).toContain('baseline');
        expect(await setup.migrate()).toEqual([]);
      }
      await setup.keepHistoryWindow({ windowMs: 0, isGiven: true });
      const wishes = { fits: () => true, make: async () => ({ certificate: '', key: `key of ${prefix}` }) };
      return (await setup.keepKey('ca', wishes)).key;
    });
    const log = openLog(database.url, { schema });
    const changes = new Recorder();
    const running = log.feed.run(NO_REVISION, changes, stop.signal);
    ending.defer(async () => {
      stop.abort();
      await running;
      await log.close();
    });
    clusters.push({ log, changes, key: kept });
    expect(await log.reader.get(key)).toBeUndefined();
    expect(await log.leases.renew({ address: '10.0.0.1', port: at + 1 }, 60_000)).toHaveLength(1);
    expect(await log.views.put({ group: 'example.com', resource: 'widgets', columns: [] })).toBe('made');
  }
  expect(clusters.map((cluster) => cluster.key)).toEqual(PREFIXES.map((prefix) => `key of ${prefix}`));
  await expect
    .poll(() => clusters.map(({ log }) => log.feed.state.mode))
    .toEqual(clusters.map(() => 'streaming'));
  for (const [at, { log, changes }] of clusters.entries()) {
    const revision = await log.committer.commit(write('create', 'same', undefined, PREFIXES[at] ?? ''));
    await log.committer.commit(write('delete', 'same', revision, PREFIXES[at] ?? ''));
    await changes.reached(revision);
  }
  for (const [at, { changes }] of clusters.entries()) {
    const data = changes.changes.map(({ json }) => JSON.parse(json.toString()).data.data);
    expect(new Set(data)).toEqual(new Set([PREFIXES[at]]));
  }
  const [first, second] = clusters;
  await second?.log.compactor.compact(stop.signal);
  expect(await second?.log.reader.compactedRevision()).not.toBe(NO_REVISION);
  expect(await first?.log.reader.compactedRevision()).toBe(NO_REVISION);
  expect(await second?.log.views.drop({ group: 'example.com', resource: 'widgets' })).toBe('dropped');
  expect(await second?.log.views.list()).toEqual([]);
  expect(await first?.log.views.list()).toEqual(['widgets.example.com']);
  const names = await database.query<{ name: string }>(
    "SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^(cluster|crd)' UNION ALL SELECT pubname FROM pg_publication ORDER BY 1",
  );
  const { name, views, publication } = CLUSTER ?? {};
  expect(names.map((one) => one.name)).toEqual([name, 'crd', views, 'pg_apiserver_revisions', publication]);
});
