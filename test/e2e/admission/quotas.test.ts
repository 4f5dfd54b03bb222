// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

const FLAGS = ['--disable-admission-plugins=ServiceAccount'];
let database: TestDatabase;
let servers: Cluster[];

beforeAll(async () => {
  database = await createTestDatabase();
  servers = [await startCluster(database.url, FLAGS), await startCluster(database.url, FLAGS)];
});

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
  await database.drop();
});

const at = (index: number): Cluster => servers[index % servers.length] as Cluster;
const pod = (name: string, resources = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }] },
});

async function used(namespace: string, quota: string): Promise<Record<string, string> | undefined> {
  const { json } = await at(0).request('GET', `/api/v1/namespaces/${namespace}/resourcequotas/${quota}`);
  return json.status?.used;
}

const waitFor = (check: () => Promise<void>) =>
  expect.poll(() => check().then(() => true, String)).toBe(true);

test('a quota is counted when it is made, held against a flood from two servers, and given back', async () => {
  await at(0).kubectl('create namespace flood');
  const pods = '/api/v1/namespaces/flood/pods';
  await at(0).request('POST', pods, pod('first', { requests: { cpu: '100m' } }));
  await at(0).kubectl('create quota most -n flood --hard=pods=10,requests.cpu=2,count/configmaps=3');
  await waitFor(async () =>
    expect(await used('flood', 'most')).toEqual({
      pods: '1',
      'requests.cpu': '100m',
      // That of the authority's certificate, which every namespace has.
      'count/configmaps': '1',
    }),
  );
  await waitFor(async () =>
    expect(
      (await at(1).request('GET', '/api/v1/namespaces/flood/resourcequotas/most')).json.status.used,
    ).toBeDefined(),
  );

  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      at(n).request('POST', pods, pod(`p${n}`, { requests: { cpu: '100m' } })),
    ),
  );
  const codes = answers.map(({ code }) => code);
  expect(codes.filter((code) => code === 201)).toHaveLength(9);
  expect(codes.filter((code) => code === 403)).toHaveLength(31);
  const refused = answers.find(({ code }) => code === 403);
  expect(refused?.json.message).toMatch(
    /exceeded quota: most, requested: pods=1, used: pods=10, limited: pods=10/,
  );
  expect(await used('flood', 'most')).toMatchObject({ pods: '10', 'requests.cpu': '1' });

  await at(1).kubectl('delete pods -n flood --all --grace-period=0 --force');
  await waitFor(async () =>
    expect(await used('flood', 'most')).toMatchObject({ pods: '0', 'requests.cpu': '0' }),
  );
  expect((await at(1).request('POST', pods, pod('again', { requests: { cpu: '1500m' } }))).code).toBe(201);
  const described = await at(0).kubectl('describe quota most -n flood');
  expect(described.stdout).toMatch(/requests.cpu\s+1500m\s+2/);
});

test('a quota that is raised lets more in, and limits of containers fill in what a quota wants said', async () => {
  await at(0).kubectl('create namespace team');
  await at(0).kubectl('create quota q -n team --hard=limits.cpu=1');
  await waitFor(async () => expect(await used('team', 'q')).toEqual({ 'limits.cpu': '0' }));
  const silent = await at(0).kubectl('run silent --image=i -n team');
  expect(silent.stderr).toMatch(/failed quota: q: must specify limits.cpu for: silent/);
  const limits = {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'l' },
    spec: { limits: [{ type: 'Container', default: { cpu: '600m' } }] },
  };
  expect((await at(0).kubectl('create -n team -f -', JSON.stringify(limits))).code).toBe(0);
  expect((await at(0).kubectl('run one --image=i -n team')).code).toBe(0);
  expect((await at(0).kubectl('run two --image=i -n team')).stderr).toMatch(
    /exceeded quota: q, requested: limits.cpu=600m, used: limits.cpu=600m, limited: limits.cpu=1/,
  );
  await at(0).kubectl('patch quota q -n team --type=merge -p {"spec":{"hard":{"limits.cpu":"2"}}}');
  await waitFor(async () => expect((await at(0).kubectl('run two --image=i -n team')).code).toBe(0));
  const { json } = await at(0).request('GET', '/api/v1/namespaces/team/pods/two');
  expect(json.metadata.annotations['kubernetes.io/limit-ranger']).toBe(
    'LimitRanger plugin set: cpu request for container two; cpu limit for container two',
  );
});
