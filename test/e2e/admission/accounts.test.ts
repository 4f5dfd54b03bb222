// @module-tag long
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Service accounts of namespaces and pods, on two servers of one database and without any controller manager. */

let database: TestDatabase;
let cluster: Cluster;
let other: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url);
  other = await startCluster(database.url);
});

afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const makeNamespace = (name: string): Promise<Answer> =>
  cluster.request('POST', '/api/v1/namespaces', { metadata: { name } });
const makePod = (on: Cluster, namespace: string, name: string, spec: object = {}): Promise<Answer> =>
  on.request('POST', `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  });

async function eventually(path: string, holds: (answer: Answer) => boolean): Promise<Answer> {
  const end = Date.now() + 60_000;
  for (;;) {
    const answer = await cluster.request('GET', path);
    if (holds(answer)) return answer;
    if (Date.now() > end) throw new Error(`${path} stays ${answer.text}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('the namespaces of the cluster have their accounts and certificates when the server is ready', async () => {
  const ca = readFileSync(join(cluster.folder, 'certificates', 'ca.crt'), 'utf8');
  for (const namespace of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    const core = `/api/v1/namespaces/${namespace}`;
    expect((await cluster.request('GET', `${core}/serviceaccounts/default`)).code).toBe(200);
    const map = await cluster.request('GET', `${core}/configmaps/kube-root-ca.crt`);
    expect(map.json.data).toEqual({ 'ca.crt': ca });
    expect(map.json.metadata.annotations['kubernetes.io/description']).toContain('CA bundle');
  }
});

test('pods made right after their namespace, on either server, have its account and token', async () => {
  const made = await Promise.all(
    Array.from({ length: 6 }, async (_, at) => {
      await makeNamespace(`fresh-${at}`);
      return makePod(at % 2 === 0 ? cluster : other, `fresh-${at}`, 'p');
    }),
  );
  for (const { code, json } of made) {
    expect(code).toBe(201);
    expect(json.spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
    const { name } = json.spec.volumes[0];
    expect(name).toMatch(/^kube-api-access-/);
    expect(json.spec.containers[0].volumeMounts).toEqual([
      { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ]);
  }
});

test('a pod of an account that is not there, and of a namespace that is not there, is refused', async () => {
  const refused = await makePod(cluster, 'default', 'p', { serviceAccountName: 'robot' });
  expect(refused).toMatchObject({
    code: 403,
    json: {
      reason: 'Forbidden',
      message:
        'pods "p" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
    },
  });
  expect(await makePod(cluster, 'nowhere', 'p')).toMatchObject({
    code: 404,
    json: { message: 'namespaces "nowhere" not found' },
  });
  const run = await cluster.kubectl('run p --image=i --overrides={"spec":{"serviceAccountName":"robot"}}');
  expect(run.stderr).toContain('Error from server (Forbidden): pods "p" is forbidden: error looking up');
});

test('the account and the certificate come back when they are deleted, and a broken certificate is mended', async () => {
  await makeNamespace('lost');
  const core = '/api/v1/namespaces/lost';
  const [account, map] = [`${core}/serviceaccounts/default`, `${core}/configmaps/kube-root-ca.crt`];
  for (const path of [account, map]) {
    const { json } = await eventually(path, ({ code }) => code === 200);
    await cluster.request('DELETE', path);
    await eventually(path, (answer) => answer.code === 200 && answer.json.metadata.uid !== json.metadata.uid);
  }
  const patch = (data: object) =>
    cluster.request('PATCH', map, { data }, { 'content-type': 'application/merge-patch+json' });
  await patch({ 'ca.crt': 'nonsense', more: 'm' });
  await eventually(map, ({ json }) => json.data['ca.crt'] !== 'nonsense' && json.data.more === undefined);
});

test('another certificate that a controller manager publishes stays, on every server and after a start', async () => {
  const map = '/api/v1/namespaces/default/configmaps/kube-root-ca.crt';
  const theirs = readFileSync(join(cluster.folder, 'certificates', 'admin.crt'), 'utf8');
  await cluster.request(
    'PATCH',
    `${map}?fieldManager=kube-controller-manager`,
    { data: { 'ca.crt': theirs } },
    { 'content-type': 'application/merge-patch+json' },
  );
  await other.stop();
  await other.start();
  expect((await cluster.request('GET', map)).json.data['ca.crt']).toBe(theirs);
  await cluster.request('DELETE', map);
  await eventually(map, ({ code, json }) => code === 200 && json.data['ca.crt'] !== theirs);
});

test('nothing comes back in a namespace that is being deleted', async () => {
  await makeNamespace('going');
  await eventually('/api/v1/namespaces/going/configmaps', ({ json }) => json.items.length === 1);
  await cluster.request('DELETE', '/api/v1/namespaces/going');
  await eventually('/api/v1/namespaces/going', ({ code }) => code === 404);
  for (const resource of ['serviceaccounts', 'configmaps'])
    expect((await cluster.request('GET', `/api/v1/namespaces/going/${resource}`)).json.items).toEqual([]);
});
