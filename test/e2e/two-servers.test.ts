import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let servers: Cluster[];

beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await startCluster(database.url), await startCluster(database.url)];
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

async function issueToken(server: Cluster, name: string): Promise<string> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await server.request('POST', accounts, { metadata: { name } });
  const { json } = await server.request('POST', `${accounts}/${name}/token`, { spec: {} });
  return json.status.token;
}

const PATH = '/api/v1/namespaces/default/configmaps';
const at = (index: number): Cluster => servers[index % servers.length] as Cluster;

test('20 writers on one object: every success is one revision, every other is a 409', {
  tags: 'long',
}, async () => {
  await at(0).request('POST', PATH, { metadata: { name: 'counter' }, data: { n: '0' } });
  const codes: number[] = [];
  const writers = Array.from({ length: 20 }, async (_, writer) => {
    const server = at(writer);
    for (let done = 0; done < 10; ) {
      const { json } = await server.request('GET', `${PATH}/counter`);
      json.data.n = String(Number(json.data.n) + 1);
      const { code } = await server.request('PUT', `${PATH}/counter`, json);
      codes.push(code);
      if (code === 200) done += 1;
    }
  });
  await Promise.all(writers);
  expect(codes.filter((code) => code === 200)).toHaveLength(200);
  expect(codes.filter((code) => code !== 200 && code !== 409)).toEqual([]);
  const { json } = await at(1).request('GET', `${PATH}/counter`);
  expect(json.data.n).toBe('200');
  const rows = await database.query<{ count: string }>(
    "SELECT count(*) FROM revisions WHERE name = 'counter'",
  );
  expect(rows[0]?.count).toBe('201');
});

test('50 watchers on two servers see the same ids in rising order, none missing and none twice', async () => {
  const { json } = await at(0).request('GET', `${PATH}?limit=1`);
  const start: string = json.metadata.resourceVersion;
  const watches = Array.from({ length: 50 }, (_, n) =>
    at(n).watch(`${PATH}?watch=1&resourceVersion=${start}`),
  );
  const writers = Array.from({ length: 10 }, async (_, writer) => {
    const made: string[] = [];
    for (let n = 0; n < 20; n += 1) {
      const answer = await at(writer).request('POST', PATH, { metadata: { name: `w${writer}-${n}` } });
      made.push(answer.json.metadata.resourceVersion);
    }
    return made;
  });
  const written = (await Promise.all(writers)).flat().sort((a, b) => Number(a) - Number(b));
  for (const watch of watches) {
    await watch.reached(written.length);
    expect(watch.events.map(({ object }) => object.metadata.resourceVersion)).toEqual(written);
    watch.stop();
  }
});

test('two restores of one namespace on two servers make each object once, and neither fails', async () => {
  const maps = '/api/v1/namespaces/restored/configmaps';
  const names = Array.from({ length: 40 }, (_, made) => `r-${made}`);
  await at(0).request('POST', '/api/v1/namespaces', { metadata: { name: 'restored' } });
  const made = await Promise.all(names.map((name) => at(0).request('POST', maps, { metadata: { name } })));
  const to = `${Math.max(...made.map(({ json }) => Number(json.metadata.resourceVersion)))}`;
  await at(0).request('DELETE', maps);
  const body = { spec: { namespace: 'restored', to } };
  const restores = '/apis/history.cluster.io/v1alpha1/restores';
  const answers = await Promise.all([0, 1].map((server) => at(server).request('POST', restores, body)));
  const actions: string[] = answers.flatMap(({ json }) =>
    json.status.results
      .filter(({ object }: { object: { name?: string } }) => names.includes(object.name ?? ''))
      .map(({ action }: { action: string }) => action),
  );
  expect(actions.filter((action) => action === 'created')).toHaveLength(names.length);
  expect(actions.filter((action) => action === 'unchanged')).toHaveLength(names.length);
});

test('a server that is killed while it writes loses nothing it acknowledged, and leaves nothing half', {
  tags: 'long',
}, async () => {
  const server = at(0);
  const acknowledged: string[] = [];
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; ; n += 1) {
      const name = `k${writer}-${n}`;
      const answer = await server
        .request('POST', PATH, { metadata: { name }, data: { name } })
        .catch(() => undefined);
      if (answer?.code !== 201) return;
      acknowledged.push(name);
    }
  });
  await expect.poll(() => acknowledged.length).toBeGreaterThan(100);
  await server.kill();
  await Promise.all(writers);
  const { json } = await at(1).request('GET', PATH);
  const items = json.items as { metadata: { name: string }; data?: { name?: string } }[];
  const names = new Set(items.map(({ metadata }) => metadata.name));
  expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
  for (const { metadata, data } of items.filter((item) => /^k\d-/.test(item.metadata.name))) {
    expect(data?.name).toBe(metadata.name);
  }
  await server.start();
  const again = await server.request('GET', PATH);
  // PostgreSQL may finish the last batch after its writer is gone: there can be more now, never less.
  const later = new Set(
    again.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
  );
  expect([...names].filter((name) => !later.has(name))).toEqual([]);
});

test('servers of one database are one cluster: they share an authority, and a token of one is good at every other', async () => {
  const kubeconfig = readFileSync(at(1).kubeconfig, 'utf8').replace(`:${at(1).port}`, `:${at(0).port}`);
  const crossed = join(at(1).folder, 'crossed.kubeconfig');
  writeFileSync(crossed, kubeconfig);
  const whoami = await at(1).kubectl(`--kubeconfig=${crossed} auth whoami -o name`);
  expect(whoami.stderr).toBe('');
  const token = await issueToken(at(1), 'robot-across');
  expect((await at(0).bearer(token, 'GET', '/apis')).code).toBe(200);
});

test('a server that lost its folder is the same cluster again: kubeconfigs and tokens from before go on working', {
  tags: 'long',
}, async () => {
  const server = at(1);
  const before = readFileSync(server.kubeconfig);
  const token = await issueToken(server, 'robot-before');
  await server.stop();
  rmSync(join(server.folder, 'certificates'), { recursive: true });
  await server.start();
  const kept = join(server.folder, 'before.kubeconfig');
  writeFileSync(kept, before);
  const { code, stderr } = await server.kubectl(`--kubeconfig=${kept} get namespaces`);
  expect([code, stderr]).toEqual([0, '']);
  expect((await server.bearer(token, 'GET', '/apis')).code).toBe(200);
});
