// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findAdvertisedAddress } from '../../../src/server/advertised-address.ts';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { eventually } from '../../kit/connections.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
const servers: Cluster[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

async function start(...flags: string[]): Promise<Cluster> {
  const server = await startCluster(database.url, flags);
  servers.push(server);
  return server;
}

const CORE = '/api/v1/namespaces/default';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

async function published(server: Cluster): Promise<string[]> {
  const { json } = await server.request('GET', `${CORE}/endpoints/kubernetes`);
  const subsets: { addresses: { ip: string }[]; ports: { port: number }[] }[] = json.subsets ?? [];
  return subsets
    .flatMap(({ addresses, ports }) => addresses.map(({ ip }) => `${ip}:${ports[0]?.port}`))
    .sort();
}

async function sliced(server: Cluster): Promise<string[]> {
  const { json } = await server.request(
    'GET',
    `${SLICES}?labelSelector=kubernetes.io/service-name=kubernetes`,
  );
  const items: { endpoints: { addresses: string[] }[]; ports: { port: number }[] }[] = json.items;
  return items
    .flatMap(({ endpoints, ports }) => endpoints.map(({ addresses }) => `${addresses[0]}:${ports[0]?.port}`))
    .sort();
}

test('default/kubernetes names every server that lives, and no other', async () => {
  const first = await start('--advertise-address=192.0.2.1', '--cluster-service-node-port=30443');
  const second = await start('--advertise-address=192.0.2.2', '--endpoint-reconciler-type=master-count');
  const silent = await start('--advertise-address=192.0.2.3', '--endpoint-reconciler-type=none');
  const both = [`192.0.2.1:${first.port}`, `192.0.2.2:${second.port}`].sort();
  await eventually(async () => expect(await published(silent)).toEqual(both));
  await eventually(async () => expect(await sliced(silent)).toEqual(both));
  const { json: service } = await second.request('GET', `${CORE}/services/kubernetes`);
  expect(service).toMatchObject({
    metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'NodePort',
      clusterIP: '10.0.0.1',
      ports: [{ name: 'https', port: 443, targetPort: first.port, nodePort: 30443, protocol: 'TCP' }],
    },
  });
  const { json: endpoints } = await second.request('GET', `${CORE}/endpoints/kubernetes`);
  expect(endpoints.metadata.labels['endpointslice.kubernetes.io/skip-mirror']).toBe('true');
  // Quiet while nothing changes.
  const before = endpoints.metadata.resourceVersion;
  await first.kill();
  await eventually(async () => expect(await published(second)).toEqual([`192.0.2.2:${second.port}`]));
  expect(
    (await second.request('GET', `${CORE}/endpoints/kubernetes`)).json.metadata.resourceVersion,
  ).not.toBe(before);
  await first.start();
  await eventually(async () => expect(await published(second)).toEqual(both));
  await first.stop();
  // A server that ends by itself removes its address at once.
  expect(await published(second)).toEqual([`192.0.2.2:${second.port}`]);
  expect(await sliced(second)).toEqual([`192.0.2.2:${second.port}`]);
});

test('endpoints that a client breaks are corrected', async () => {
  const server = servers[1];
  if (server === undefined) throw new Error('no server');
  await server.request('DELETE', `${CORE}/services/kubernetes`);
  await server.request('DELETE', `${SLICES}/kubernetes`);
  await server.request(
    'PATCH',
    `${CORE}/endpoints/kubernetes`,
    { subsets: [] },
    { 'content-type': 'application/merge-patch+json' },
  );
  await eventually(async () => {
    expect(await published(server)).toEqual([`192.0.2.2:${server.port}`]);
    expect(await sliced(server)).toEqual([`192.0.2.2:${server.port}`]);
    expect((await server.request('GET', `${CORE}/services/kubernetes`)).code).toBe(200);
  });
});

test('a server on the loopback has endpoints and a slice too, and the slice outlives the last server without them', {
  tags: 'long',
}, async () => {
  await using own = await createTestDatabase();
  await using server = await startCluster(own.url);
  const address = findAdvertisedAddress('', '0.0.0.0');
  const expected = address === undefined ? [] : [`${address}:${server.port}`];
  await eventually(async () => expect(await published(server)).toEqual(expected));
  await eventually(async () => expect(await sliced(server)).toEqual(expected));
  await server.request('POST', SLICES, {
    metadata: { name: 'stray', labels: { 'kubernetes.io/service-name': 'kubernetes' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['198.51.100.1'] }],
    ports: [{ name: 'https', port: server.port }],
  });
  await eventually(async () => expect(await sliced(server)).toEqual(expected));
  expect(await server.stop()).toBe(0);
  const kept = await own.query<{ resource: string; object: { endpoints?: unknown; subsets?: unknown } }>(
    "SELECT resource, object FROM current_objects WHERE name = 'kubernetes' AND resource LIKE 'endpoint%' ORDER BY resource",
  );
  const found = kept.map(({ resource, object }) => [resource, object.subsets ?? object.endpoints ?? []]);
  expect(found).toEqual(
    address === undefined
      ? []
      : [
          ['endpoints', []],
          ['endpointslices', []],
        ],
  );
});
