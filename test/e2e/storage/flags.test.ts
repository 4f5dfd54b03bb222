// @module-tag long
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { startBlackHole } from '../../kit/black-hole.ts';
import { type Cluster, startCluster, type Watch } from '../../kit/cluster.ts';
import { runMigrate, TestRoles } from '../../kit/roles.ts';
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
/** Of one that is made below. */
let events: Watch | undefined;

beforeAll(async () => {
  [database, second] = await Promise.all([createTestDatabase(), createTestDatabase({ empty: true })]);
  const polls = ['--kvstore-count-metric-poll-period=200ms', '--kvstore-db-metric-poll-interval=200ms'];
  [uncached, team] = await Promise.all([
    startCluster(database.url, ['--watch-cache=false', ...polls]),
    startCluster(database.url, [
      ...['--kvstore-prefix=team_a/', '--storage-media-type=application/vnd.cluster.protobuf'],
      '--watch-cache-sizes=configmaps#0,leases.coordination.cluster.io#0',
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

/** As a user of psql: JSON in place of the stored form. */
const change = (schema: string, name: string, object: object): Promise<unknown> =>
  database.query(
    `UPDATE ${schema}.revisions SET object = $2::json, encoded = NULL, media_type = NULL WHERE name = $1`,
    [name, JSON.stringify(object)],
  );

test('what is read from PostgreSQL is what a hand at psql has written there', async () => {
  const read = async (cluster: Cluster, schema: string): Promise<string> => {
    const metadata = { name: 'psql', namespace: 'default' };
    await cluster.request('POST', MAPS, { metadata, data: { is: 'old' } });
    await change(schema, 'psql', { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { is: 'new' } });
    return (await cluster.request('GET', `${MAPS}/psql`)).json.data.is;
  };
  // Of the one, --watch-cache says no; of the other, the size of the cache is 0.
  expect([await read(uncached, 'public'), await read(team, 'cluster_team_a')]).toEqual(['new', 'new']);
  const metadata = { name: 'in-memory', namespace: 'default' };
  const secrets = '/api/v1/namespaces/default/secrets';
  await team.request('POST', secrets, { metadata, type: 'old' });
  await change('cluster_team_a', 'in-memory', { kind: 'Secret', apiVersion: 'v1', metadata, type: 'new' });
  expect((await team.request('GET', `${secrets}/in-memory`)).json.type).toBe('old');
});

test('objects are counted where they are, and the database is measured, as often as the flags say', async () => {
  const line = /^apiserver_storage_objects\{resource="configmaps"\} (\d+)$/m;
  const size = /^apiserver_storage_size_bytes\{storage_cluster_id="postgres-0"\} ([\d.e+]+)$/m;
  for (const cluster of [uncached, team]) {
    const [count, sizeBytes] = [Number(await metric(cluster, line)), Number(await metric(cluster, size))];
    expect([count > 0, sizeBytes > 0]).toEqual([true, true]);
    const data = { large: 'x'.repeat(1000).replaceAll('x', () => Math.random().toString(36)) };
    await cluster.request('POST', MAPS, { metadata: { name: 'counted' }, data });
    await expect.poll(async () => Number(await metric(cluster, line))).toBeGreaterThan(count);
    await expect.poll(async () => Number(await metric(cluster, size))).toBeGreaterThan(sizeBytes);
  }
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
});

test('migrate and its roles are of the cluster that the prefix names', async () => {
  const list = await runMigrate(database.url, '--kvstore-prefix=/team_a', '--list');
  expect(list.lines[0]).toBe('64 baseline: applied');
  expect(list.lines.join()).not.toContain('pending');
  await using roles = new TestRoles(database);
  const made = await runMigrate(database.url, '--kvstore-prefix=/team_a', `--roles=${roles.prefix}`);
  expect([made.code, made.stderr]).toEqual([0, '']);
  const granted = ([role, table]: readonly [string, string]): Promise<unknown[]> =>
    database.query(
      `SELECT has_table_privilege($1, 'cluster_team_a.${table}', 'SELECT') AS own,
         has_table_privilege($1, 'public.${table}', 'SELECT') AS others`,
      [roles.nameOf(role)],
    );
  const tables = [
    ['server', 'objects'],
    ['reader', 'current_objects'],
  ] as const;
  expect((await Promise.all(tables.map(granted))).flat()).toEqual(
    tables.map(() => ({ own: true, others: false })),
  );
});

test('an overridden resource lives in its database, with revisions of its own, in all that has to do with it', async () => {
  const start = (await team.request('GET', EVENTS)).json.metadata.resourceVersion;
  events = team.watch(`/apis/events.k8s.io/v1/namespaces/default/events?watch=true&resourceVersion=${start}`);
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
  await events.reached(1);
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
          new RegExp(`^apiserver_storage_size_bytes\\{storage_cluster_id="${id}"\\} ([\\d.e+]+)$`, 'm'),
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

test('objects are stored in the media type of the flag, shown in SQL as far as that can be, and read in every stored form', async () => {
  const shown = async (name: string): Promise<Record<string, unknown>> => {
    const [row] = await database.query<{ media_type: string; object: Record<string, unknown> }>(
      'SELECT media_type, object FROM cluster_team_a.history WHERE name = $1 ORDER BY revision DESC LIMIT 1',
      [name],
    );
    return { type: row?.media_type, ...row?.object };
  };
  const data = { text: 'a: "b"\n\ttab é' };
  await team.request('POST', MAPS, { metadata: { name: 'form' }, data });
  const protobuf = 'application/vnd.kubernetes.protobuf';
  expect(await shown('form')).toEqual({
    type: protobuf,
    encoded: { mediaType: protobuf, sizeBytes: expect.any(Number) },
  });
  await using hole = await startBlackHole(database.url);
  const yaml = await startCluster(hole.url, [
    ...['--kvstore-count-metric-poll-period=0', '--kvstore-db-metric-poll-interval=0'],
    ...['--kvstore-healthcheck-timeout=300ms', '--kvstore-readycheck-timeout=300ms'],
    ...['--kvstore-prefix=/team_a', '--storage-media-type=application/yaml'],
    `--kvstore-servers-overrides=/events#${second.url}`,
  ]);
  try {
    expect((await yaml.request('GET', `${MAPS}/form`)).json.data).toEqual(data);
    await yaml.request('POST', MAPS, { metadata: { name: 'other-form' }, data });
    expect(await shown('other-form')).toMatchObject({ type: 'application/yaml', kind: 'ConfigMap', data });
    expect((await team.request('GET', `${MAPS}/other-form`)).json.data).toEqual(data);
    // An update that changes nothing stores in the form of today.
    const { json } = await yaml.request('GET', `${MAPS}/form`);
    await yaml.request('PUT', `${MAPS}/form`, json);
    expect(await shown('form')).toMatchObject({ type: 'application/yaml', data });
    const definition = {
      metadata: { name: 'widgets.example.com' },
      spec: {
        ...{ group: 'example.com', scope: 'Namespaced', names: { kind: 'Widget', plural: 'widgets' } },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    };
    await yaml.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    const widget = { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name: 'custom' } };
    await expect.poll(async () => (await yaml.request('POST', widgets, widget)).code).toBe(201);
    expect(await shown('custom')).toMatchObject({ type: null, kind: 'Widget' });
    // What is polled never is not there, and a silent database is waited for no longer than the flags say.
    expect((await yaml.request('GET', '/metrics')).text).not.toMatch(
      /apiserver_storage_(objects|size_bytes)/,
    );
    hole.swallow();
    for (const check of ['livez/etcd', 'readyz/etcd-readiness']) {
      const beganMs = performance.now();
      expect((await yaml.request('GET', `/${check}`)).code).toBe(500);
      expect(performance.now() - beganMs).toBeLessThan(1900);
    }
  } finally {
    // Its database is silent, which it would wait for.
    await yaml.kill();
    await yaml[Symbol.asyncDispose]();
  }
});

test('an event ends by itself in its own database', async () => {
  await events?.reached(2);
  events?.stop();
  expect(events?.events.map(({ type }) => type)).toEqual(['ADDED', 'DELETED']);
});

test('history tells of the database that a resource is in, and says how to ask for another', async () => {
  const HISTORY = '/apis/history.cluster.io/v1alpha1/revisions';
  const ofEvents = 'fieldSelector=object.resource=events';
  const about = { kind: 'Pod', namespace: 'default', name: 'x' };
  await team.request('POST', EVENTS, { metadata: { name: 'seen' }, involvedObject: about });
  const list = await team.request('GET', `${HISTORY}?${ofEvents}&limit=1`);
  const [{ metadata, object }] = list.json.items;
  expect([object.resource, object.name]).toEqual(['events', 'seen']);
  const { name } = metadata;
  const own = await team.request('GET', `${HISTORY}/${name}?${ofEvents}`);
  expect([own.code, own.json.object?.name]).toEqual([200, 'seen']);
  const why = await team.request('GET', `${HISTORY}/${name}/why?${ofEvents}`);
  expect([why.code, why.json.links?.[0]?.object.name]).toEqual([200, 'seen']);
  const everything = await team.request('GET', HISTORY);
  const resources = everything.json.items.map(
    (item: { object: { resource: string } }) => item.object.resource,
  );
  expect([resources.includes('configmaps'), resources.includes('events')]).toEqual([true, false]);
  const beyond = await team.request('GET', `${HISTORY}/999999999`);
  expect([beyond.code, beyond.json.message]).toEqual([
    404,
    'revisions.history.cluster.io "999999999" not found: revisions of events are in other databases, with numbers of their own, and are asked for with fieldSelector=object.resource=<resource>[.<group>]',
  ]);
  const other = await team.request('GET', `${HISTORY}/${name}?fieldSelector=object.resource=configmaps`);
  expect(other.json.object?.name).not.toBe('seen');
  const alone = await uncached.request('GET', `${HISTORY}/999999999`);
  expect(alone.json.message).toBe('revisions.history.cluster.io "999999999" not found');
});

test('asOf of history is a revision of the database that the resource is in', async () => {
  const HISTORY = '/apis/history.cluster.io/v1alpha1';
  const ofEvents = 'fieldSelector=object.resource=events';
  const about = { kind: 'Pod', namespace: 'default', name: 'x' };
  const { code, json } = await team.request('POST', EVENTS, {
    metadata: { name: 'past' },
    involvedObject: about,
    message: 'as it was',
  });
  expect(code).toBe(201);
  // The cluster begins with hundreds of writes, the database of events with none.
  const created = Number(json.metadata.resourceVersion);
  const blame = `${HISTORY}/blames/events:default:past`;
  const blamed = await team.request('GET', `${blame}?asOf=${created}`);
  expect([blamed.code, blamed.json.revision]).toEqual([200, String(created)]);
  const future = await team.request('GET', `${blame}?asOf=${created + 100_000}`);
  expect([future.code, future.json.message]).toEqual([
    504,
    expect.stringContaining(`Too large resource version: ${created + 100_000}, current:`),
  ]);
  await expect.poll(async () => (await team.request('GET', `${EVENTS}/past`)).code).toBe(404);
  const moment = encodeURIComponent(json.metadata.creationTimestamp.replace('Z', '.999Z'));
  const then = await team.request('GET', `${blame}?asOf=${moment}`);
  expect(then.code).toBe(200);
  const list = await team.request('GET', `${HISTORY}/revisions?${ofEvents}&asOf=${moment}`);
  expect(list.code).toBe(200);
  expect(list.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toContain(
    String(created),
  );
  const one = `${HISTORY}/revisions/${created}?${ofEvents}`;
  expect((await team.request('GET', `${one}&asOf=${created}`)).code).toBe(200);
  expect((await team.request('GET', `${one}&asOf=${created - 1}`)).code).toBe(404);
});

test.each([
  ['--watch-cache-sizes=things#0', '--watch-cache-sizes: there is no built-in resource "things"'],
  ['--kvstore-servers-overrides=a.example/b#postgres://c', 'there is no built-in resource "b.a.example"'],
  ['--kvstore-cafile=/nowhere/ca.pem', '--kvstore-cafile: /nowhere/ca.pem: there is no such file'],
  ['--kvstore-certfile=/nowhere/tls.pem', '--kvstore-certfile: /nowhere/tls.pem: there is no such file'],
])('%s is refused by name', async (flag, message) => {
  const flags = [
    `--kvstore-servers=${database.url}`,
    `--data-dir=${team.folder}/other`,
    '--bind-address=127.0.0.1',
    `--secure-port=${await freePort()}`,
    flag,
  ];
  const stderr = await new Promise<string>((resolve) => {
    execFile(process.execPath, [MAIN, ...flags], (_, __, text) => resolve(text));
  });
  expect(stderr).toContain(message);
});
