import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Flags of storage with real servers: two clusters in one database, one without a cache, one with a second database. */

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const MAPS = '/api/v1/namespaces/default/configmaps';
const EVENTS = '/api/v1/namespaces/default/events';

let database: TestDatabase;
let second: TestDatabase;
/** Nothing in memory. */
let uncached: Cluster;
/** Beside the other, with events elsewhere. */
let team: Cluster;

beforeAll(async () => {
  [database, second] = await Promise.all([createTestDatabase(), createTestDatabase({ empty: true })]);
  const polls = ['--kvstore-count-metric-poll-period=200ms', '--kvstore-db-metric-poll-interval=200ms'];
  [uncached, team] = await Promise.all([
    startCluster(database.url, ['--watch-cache=false', ...polls]),
    startCluster(database.url, [
      ...['--kvstore-prefix=team_a/', '--watch-cache-sizes=configmaps#0,leases.coordination.cluster.io#0'],
      ...[`--kvstore-servers-overrides=events.cluster.io/events#${second.url}`, '--event-ttl=1s', ...polls],
    ]),
  ]);
}, 120_000);

afterAll(async () => {
  await Promise.all([uncached, team].map((cluster) => cluster?.stop()));
  await Promise.all([database, second].map((one) => one?.drop()));
});

const metric = async (cluster: Cluster, line: RegExp): Promise<string | undefined> =>
  line.exec((await cluster.request('GET', '/metrics')).text)?.[1];

test('without a watch cache what clients read is read from PostgreSQL: gets, lists, pages, watches', async () => {
  for (const name of ['a', 'b', 'c'])
    await uncached.request('POST', MAPS, {
      metadata: { name, labels: { odd: name === 'b' ? 'no' : 'yes' } },
    });
  const first = await uncached.request('GET', `${MAPS}?limit=2`);
  expect(first.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([
    'a',
    'b',
  ]);
  const { resourceVersion, continue: token } = first.json.metadata;
  const watch = uncached.watch(
    `${MAPS}?watch=true&resourceVersion=${resourceVersion}&labelSelector=odd%3Dyes`,
  );
  await uncached.request('POST', MAPS, { metadata: { name: 'd', labels: { odd: 'yes' } } });
  const rest = await uncached.request('GET', `${MAPS}?limit=2&continue=${token}`);
  expect(rest.json.metadata.resourceVersion).toBe(resourceVersion);
  const names = rest.json.items.map((item: { metadata: { name: string } }) => item.metadata.name);
  expect(names).not.toContain('d');
  await uncached.kubectl('label configmap d odd=no --overwrite');
  await watch.reached(2);
  watch.stop();
  expect(watch.events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
    'ADDED d',
    'DELETED d',
  ]);
  const any = await uncached.request('GET', `${MAPS}?resourceVersion=0&labelSelector=odd%3Dyes`);
  expect(any.json.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(
    expect.arrayContaining(['a', 'c']),
  );
  const exact = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
  expect((await uncached.request('GET', `${MAPS}?${exact}`)).json.items).toHaveLength(names.length + 2);
  expect((await uncached.request('GET', '/api/v1/namespaces/default')).code).toBe(200);
});

test('what is read from PostgreSQL is what a hand at psql has written there', async () => {
  const change = (at: TestDatabase, schema: string, map: string) =>
    at.query(
      `UPDATE ${schema}.revisions SET object = replace(object::text, '"old"', '"new"')::json WHERE name = $1`,
      [map],
    );
  const read = async (cluster: Cluster, map: string): Promise<string> => {
    await cluster.request('POST', MAPS, { metadata: { name: map }, data: { is: 'old' } });
    await change(database, cluster === team ? 'cluster_team_a' : 'public', map);
    return (await cluster.request('GET', `${MAPS}/${map}`)).json.data.is;
  };
  // Whose sizes say 0, and whose --watch-cache says no.
  expect([await read(uncached, 'psql'), await read(team, 'psql')]).toEqual(['new', 'new']);
  const secrets = '/api/v1/namespaces/default/secrets';
  await team.request('POST', secrets, { metadata: { name: 'psql' }, type: 'old' });
  await change(database, 'cluster_team_a', 'psql');
  expect((await team.request('GET', `${secrets}/psql`)).json.type).toBe('old');
});

test('objects are counted where they are, as often as the flag says', async () => {
  await expect
    .poll(() => metric(uncached, /^apiserver_storage_objects\{resource="configmaps"\} (\d+)$/m))
    .toMatch(/^[1-9]/);
  await expect
    .poll(() => metric(uncached, /^apiserver_storage_objects\{resource="namespaces"\} (\d+)$/m))
    .toMatch(/^[1-9]/);
});

test('two clusters of one database share no object, certificate or key', async () => {
  expect((await team.request('GET', `${MAPS}/a`)).code).toBe(404);
  expect((await team.request('POST', MAPS, { metadata: { name: 'only-team' } })).code).toBe(201);
  expect((await uncached.request('GET', `${MAPS}/only-team`)).code).toBe(404);
  const keys = await database.query<{ key: string }>(
    `SELECT private_key AS key FROM public.cluster_keys UNION ALL SELECT private_key FROM cluster_team_a.cluster_keys
     UNION ALL SELECT private_key FROM public.signing_keys UNION ALL SELECT private_key FROM cluster_team_a.signing_keys`,
  );
  expect(keys.length).toBeGreaterThanOrEqual(4);
  expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length);
  const list = await new Promise<string>((resolve) => {
    const flags = [`--kvstore-servers=${database.url}`, '--kvstore-prefix=/team_a', '--list'];
    execFile(process.execPath, [MAIN, 'migrate', ...flags], (_, stdout) => resolve(stdout));
  });
  expect(list).toMatch(/^1 revisions: applied/);
  expect(list).not.toContain('pending');
});

test('an overridden resource lives in its database, with revisions of its own, in all that has to do with it', async () => {
  const start = (await team.request('GET', EVENTS)).json.metadata.resourceVersion;
  const watch = team.watch(
    `/apis/events.k8s.io/v1/namespaces/default/events?watch=true&resourceVersion=${start}`,
  );
  const created = await team.request('POST', EVENTS, {
    metadata: { name: 'happened' },
    involvedObject: { namespace: 'default' },
    reason: 'Test',
    type: 'Normal',
  });
  expect(created.code).toBe(201);
  const find = (at: TestDatabase) =>
    at.query<{ revision: string }>(
      "SELECT revision FROM cluster_team_a.revisions WHERE name = 'happened' AND verb = 'create'",
    );
  expect(await find(database)).toEqual([]);
  const [{ revision } = { revision: '' }] = await find(second);
  expect(created.json.metadata.resourceVersion).toBe(revision);
  // It ends by itself, in its own database.
  await watch.reached(2);
  watch.stop();
  expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
  const past = await team.request('GET', `${EVENTS}/happened?asOf=${revision}`);
  expect(past.json.metadata.name).toBe('happened');
  const ready = (await team.request('GET', '/readyz?verbose')).text;
  expect(ready).toContain('[+]etcd-override-0 ok');
  expect(ready).toContain('[+]watch-cache-postgres-1 ok');
  for (const id of ['postgres-0', 'postgres-1'])
    await expect
      .poll(() =>
        metric(
          team,
          new RegExp(`^apiserver_storage_size_bytes\\{storage_cluster_id="${id}"\\} (\\d+)$`, 'm'),
        ),
      )
      .toMatch(/^[1-9]/);
  expect(
    await metric(team, /^pg_apiserver_tail_mode\{mode="streaming",storage_cluster_id="postgres-1"\} (\d)$/m),
  ).toBe('1');
});

test('a namespace is emptied across databases', async () => {
  await team.request('POST', '/api/v1/namespaces', { metadata: { name: 'passing' } });
  await team.request('POST', '/api/v1/namespaces/passing/events', {
    metadata: { name: 'last' },
    involvedObject: { namespace: 'passing' },
  });
  await team.request('POST', '/api/v1/namespaces/passing/configmaps', { metadata: { name: 'last' } });
  await team.request('DELETE', '/api/v1/namespaces/passing');
  await expect.poll(async () => (await team.request('GET', '/api/v1/namespaces/passing')).code).toBe(404);
  const left = (at: TestDatabase) =>
    at.query("SELECT FROM cluster_team_a.objects WHERE namespace = 'passing'");
  expect([await left(database), await left(second)]).toEqual([[], []]);
});

test.each([
  ['--watch-cache-sizes=things#0', '--watch-cache-sizes: there is no built-in resource "things"'],
  ['--kvstore-servers-overrides=a.example/b#postgres://c', 'there is no built-in resource "b.a.example"'],
])('%s is refused by name', async (flag, message) => {
  const stderr = await new Promise<string>((resolve) => {
    const flags = [
      `--kvstore-servers=${database.url}`,
      `--data-dir=${team.folder}/other`,
      '--bind-address=127.0.0.1',
      flag,
    ];
    execFile(process.execPath, [MAIN, ...flags], (_, __, text) => resolve(text));
  });
  expect(stderr).toContain(message);
});
