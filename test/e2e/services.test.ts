// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

let database: TestDatabase;
let servers: Cluster[];

const FLAGS = [
  '--service-cluster-ip-range=10.64.0.0/14,fd00:10::/108',
  '--service-node-port-range=30000-30499',
];

beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await startCluster(database.url, FLAGS), await startCluster(database.url, FLAGS)];
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

const at = (index: number): Cluster => servers[index % servers.length] as Cluster;

const pathOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/services`;

const manifest = (name: string, spec: JsonObject = {}): JsonObject => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], selector: { app: name }, ...spec },
});

async function namespace(name: string): Promise<string> {
  await at(0).request('POST', '/api/v1/namespaces', { metadata: { name } });
  return pathOf(name);
}

/** `count` jobs, `width` at a time; a worker stays with one server, so that no connection waits idle. */
async function each(
  count: number,
  width: number,
  job: (n: number, server: Cluster) => Promise<void>,
): Promise<void> {
  let next = 0;
  const workers = Array.from({ length: width }, async (_, worker) => {
    for (let n = next++; n < count; n = next++) await job(n, at(worker));
  });
  await Promise.all(workers);
}

const allocations = (where: string): Promise<{ value: string; name: string }[]> =>
  database.query(`SELECT value, name FROM allocations WHERE ${where} ORDER BY value`);

/** What services hold and what is on record must be the same thing. */
async function expectInOrder(): Promise<void> {
  const { json } = await at(0).request('GET', '/api/v1/services');
  const stated = json.items.flatMap(
    (service: { metadata: { namespace: string; name: string }; spec: JsonObject }) => {
      const { namespace: of, name } = service.metadata;
      const ips = ((service.spec.clusterIPs ?? []) as string[]).filter((ip) => ip !== 'None');
      const ports = (service.spec.ports as JsonObject[]).map(({ nodePort }) => nodePort);
      const values = new Set([...ips, ...ports, service.spec.healthCheckNodePort].filter((value) => value));
      return [...values].map((value) => `${of}/${name} ${String(value)}`);
    },
  );
  const rows = await database.query<{ line: string }>(
    "SELECT namespace || '/' || name || ' ' || value AS line FROM allocations",
  );
  expect(rows.map(({ line }) => line).sort()).toEqual(stated.sort());
}

const COUNT = 10_000;

test(`${COUNT} services created from two servers at once: no cluster IP twice, none lost`, {
  timeout: 600_000,
}, async () => {
  const path = await namespace('many');
  const answers = new Map<string, string>();
  const begun = performance.now();
  await each(COUNT, 200, async (n, server) => {
    const { code, json } = await server.request('POST', path, manifest(`s${n}`));
    expect(code, json?.message).toBe(201);
    answers.set(`s${n}`, json.spec.clusterIP);
  });
  console.info(`${COUNT} services in ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  expect(new Set(answers.values()).size).toBe(COUNT);
  const { json } = await at(1).request('GET', path);
  const listed = json.items.map(
    ({ metadata, spec }: { metadata: { name: string }; spec: { clusterIP: string } }) => [
      metadata.name,
      spec.clusterIP,
    ],
  );
  expect(new Map(listed)).toEqual(answers);
  const rows = await database.query<{ count: string }>(
    "SELECT count(*) FROM allocations WHERE namespace = 'many'",
  );
  expect(rows[0]?.count).toBe(String(COUNT));
});

describe('what is asked for by name', () => {
  test('of many who ask for one address on two servers, one gets it', async () => {
    const path = await namespace('racing');
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        at(n).request('POST', path, manifest(`r${n}`, { clusterIP: '10.64.0.77' })),
      ),
    );
    expect(answers.filter(({ code }) => code === 201)).toHaveLength(1);
    const refused = answers.filter(({ code }) => code !== 201);
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set([422]));
    expect(refused[0]?.json.message).toMatch(
      /^Service "r\d+" is invalid: spec.clusterIPs: Invalid value: \[\]string\{"10\.64\.0\.77"\}: failed to allocate IP 10.64.0.77: provided IP is already allocated$/,
    );
    expect(refused[0]?.json.details.causes).toMatchObject([
      { reason: 'FieldValueInvalid', field: 'spec.clusterIPs' },
    ]);
  });

  test('so with a port of the nodes, also by update', async () => {
    const path = await namespace('ports');
    const ask = { type: 'NodePort', ports: [{ port: 80, nodePort: 30_007 }] };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => at(n).request('POST', path, manifest(`p${n}`, ask))),
    );
    expect(answers.filter(({ code }) => code === 201)).toHaveLength(1);
    await at(0).request('POST', path, manifest('late', { type: 'NodePort' }));
    const patch = { spec: { ports: [{ port: 80, nodePort: 30_007 }] } };
    const late = await at(1).request('PATCH', `${path}/late`, patch, {
      'content-type': 'application/merge-patch+json',
    });
    expect(late).toMatchObject({
      code: 422,
      json: {
        message:
          'Service "late" is invalid: spec.ports[0].nodePort: Invalid value: 30007: provided port is already allocated',
      },
    });
    await expectInOrder();
  });
});

test('every port of the nodes can be had, from two servers at once, and then no more until one is released', async () => {
  const path = await namespace('full');
  const before = (await allocations("pool = 'NodePort'")).length;
  const answers: Answer[] = [];
  await each(520 - before, 40, async (n, server) => {
    answers.push(await server.request('POST', path, manifest(`f${n}`, { type: 'NodePort' })));
  });
  const refused = answers.filter(({ code }) => code !== 201);
  expect(refused).toHaveLength(20);
  expect(refused[0]).toMatchObject({
    code: 500,
    json: { message: 'Internal error occurred: failed to allocate a nodePort: range is full' },
  });
  expect(await allocations("pool = 'NodePort'")).toHaveLength(500);
  await expectInOrder();
  const [one] = answers.filter(({ code }) => code === 201);
  await at(0).request('DELETE', `${path}/${one?.json.metadata.name}`);
  const next = await at(1).request('POST', path, manifest('next', { type: 'NodePort' }));
  expect(next.json.spec.ports[0].nodePort).toBe(one?.json.spec.ports[0].nodePort);
  await at(0).request('DELETE', path);
  expect(await allocations("namespace = 'full'")).toEqual([]);
});

test('a dry run shows what would be, and claims nothing', async () => {
  const path = await namespace('dry');
  const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ipFamilyPolicy: 'PreferDualStack' };
  const { code, json } = await at(0).request('POST', `${path}?dryRun=All`, manifest('d', spec));
  expect(code).toBe(201);
  expect(json.spec.clusterIPs).toHaveLength(2);
  expect(json.spec.healthCheckNodePort).toBeGreaterThan(0);
  expect(await allocations("namespace = 'dry'")).toEqual([]);
  await at(0).request('POST', path, manifest('d', { clusterIP: '10.64.0.99' }));
  const taken = await at(1).request('POST', `${path}?dryRun=All`, manifest('e', { clusterIP: '10.64.0.99' }));
  expect(taken.json.message).toContain('provided IP is already allocated');
  await at(0).request('DELETE', `${path}/d?dryRun=All`);
  expect(await allocations("namespace = 'dry'")).toHaveLength(1);
});

test('values come and go with the type, and with the object', async () => {
  const path = await namespace('changing');
  const merge = { 'content-type': 'application/merge-patch+json' };
  const patch = (spec: JsonObject): Promise<Answer> => at(1).request('PATCH', `${path}/c`, { spec }, merge);
  const made = await at(0).request('POST', path, manifest('c', { ipFamilyPolicy: 'RequireDualStack' }));
  const [first, second] = made.json.spec.clusterIPs;
  expect(second).toMatch(/^fd00:10::/);
  const balanced = await patch({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  expect(balanced.json.spec).toMatchObject({ clusterIPs: [first, second] });
  expect(await allocations("namespace = 'changing'")).toHaveLength(4);
  await patch({ type: 'NodePort', externalTrafficPolicy: 'Cluster' });
  expect(await allocations("namespace = 'changing'")).toHaveLength(3);
  const plain = await patch({ type: 'ClusterIP', ipFamilyPolicy: 'SingleStack' });
  expect(plain.json.spec.clusterIPs).toEqual([first]);
  expect(plain.json.spec.ports[0]).not.toHaveProperty('nodePort');
  expect((await allocations("namespace = 'changing'")).map(({ value }) => value)).toEqual([first]);
  const external = await patch({ type: 'ExternalName', externalName: 'a.example.com' });
  expect(external.json.spec).not.toHaveProperty('clusterIP');
  expect(await allocations("namespace = 'changing'")).toEqual([]);
  const back = await patch({ type: 'ClusterIP', externalName: null });
  expect(back.json.spec.clusterIP).toMatch(/^10\.6/);
  const held = await patch({ selector: { app: 'x' } });
  expect(held.json.spec.clusterIP).toBe(back.json.spec.clusterIP);
  await at(0).request('PATCH', `${path}/c`, { metadata: { finalizers: ['example.com/wait'] } }, merge);
  await at(0).request('DELETE', `${path}/c`);
  expect(await allocations("namespace = 'changing'")).toHaveLength(1);
  await at(1).request('PATCH', `${path}/c`, { metadata: { finalizers: null } }, merge);
  expect(await allocations("namespace = 'changing'")).toEqual([]);
});

test('the endpoints of a service go with it', async () => {
  const path = await namespace('ends');
  const endpoints = '/api/v1/namespaces/ends/endpoints';
  for (const name of ['gone', 'kept']) {
    await at(0).request('POST', path, manifest(name));
    await at(0).request('POST', endpoints, { metadata: { name }, subsets: [] });
  }
  await at(1).request('DELETE', `${path}/kept?dryRun=All`);
  await at(1).request('DELETE', `${path}/gone`);
  expect((await at(0).request('GET', `${endpoints}/gone`)).code).toBe(404);
  expect((await at(0).request('GET', `${endpoints}/kept`)).code).toBe(200);
});

test('a server that is killed in the middle leaves no value without its service and no service without its value', async () => {
  const path = await namespace('killed');
  const server = at(0);
  const acknowledged: string[] = [];
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let n = 0; ; n += 1) {
      const name = `k${writer}-${n}`;
      const answer = await server.request('POST', path, manifest(name)).catch(() => undefined);
      if (answer?.code !== 201) return;
      acknowledged.push(name);
      if (n % 3 === 0) await server.request('DELETE', `${path}/${name}`).catch(() => undefined);
    }
  });
  while (acknowledged.length < 60) await new Promise((resolve) => setTimeout(resolve, 10));
  await server.kill();
  await Promise.all(writers);
  await server.start();
  await expectInOrder();
});

test('a server that starts puts right what is not, and tells about what only people can', async () => {
  const path = await namespace('broken');
  for (const name of ['a', 'b', 'c']) await at(0).request('POST', path, manifest(name));
  const { json } = await at(0).request('GET', `${path}/a`);
  const ip: string = json.spec.clusterIP;
  await servers[1]?.stop();
  // As an import leaves it: `b` has the address of `a`, `c` has no record, and something that is gone has one.
  await database.query(
    `UPDATE objects o SET object = replace(c.object::text, a.value, $1)::json
     FROM current_objects c, allocations a
     WHERE (o.namespace, o.name) = ('broken', 'b') AND o.resource = 'services' AND c.revision = o.revision
       AND (a.namespace, a.name) = (o.namespace, o.name)`,
    [ip],
  );
  await database.query("DELETE FROM allocations WHERE namespace = 'broken' AND name IN ('b', 'c')");
  await database.query(
    "INSERT INTO allocations VALUES ('IPv4', '10.64.0.200', '', 'services', 'broken', 'gone', now())",
  );
  await servers[1]?.start();
  expect((await allocations("namespace = 'broken'")).map(({ name }) => name).sort()).toEqual(['a', 'c']);
  const events = await at(1).request('GET', '/api/v1/namespaces/broken/events');
  const noted = events.json.items.map((event: JsonObject) => [
    event.reason,
    (event.involvedObject as JsonObject).name,
    event.message,
  ]);
  expect(noted).toEqual([
    [
      'ClusterIPAlreadyAllocated',
      'b',
      `Cluster IP [IPv4]:${ip} was assigned to multiple services; please recreate service`,
    ],
  ]);
  const labelled = await at(1).request(
    'PATCH',
    `${path}/b`,
    { metadata: { labels: { still: 'writable' } } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  expect(labelled.code).toBe(200);
});
