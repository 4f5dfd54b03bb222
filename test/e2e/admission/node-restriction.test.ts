// @module-tag long
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

let database: TestDatabase;
let cluster: Cluster;

const POD = '/api/v1/namespaces/default/pods';
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/robot';

beforeAll(async () => {
  database = await createTestDatabase();
  const tokens = join('/tmp', `node-tokens-${process.pid}.csv`);
  writeFileSync(tokens, 'n1-token,system:node:n1,1,"system:nodes"\n');
  cluster = await startCluster(database.url, [
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--disable-admission-plugins=ServiceAccount',
    `--token-auth-file=${tokens}`,
  ]);
  await cluster.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'robot' },
  });
  for (const nodeName of ['n1', 'n2']) {
    await cluster.request('POST', '/api/v1/nodes', { metadata: { name: nodeName } });
    const spec = { nodeName, serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] };
    await cluster.request('POST', POD, { metadata: { name: `on-${nodeName}` }, spec });
  }
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const asNode = (method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> =>
  cluster.bearer('n1-token', method, path, body, { 'content-type': type });
const patch = (path: string, body: unknown): Promise<Answer> =>
  asNode('PATCH', path, body, 'application/merge-patch+json');
/** The answer to the node, without the beginning that all refusals share. */
const answerOf = ({ code, json }: Answer): [number, string] => [
  code,
  code < 300 ? '' : json.message.replace(/^.*? is forbidden: /, ''),
];
const DONE = [200, ''];
const MADE = [201, ''];

test('a node labels itself, but neither taints itself nor takes the labels that administrators keep', async () => {
  const change = async (metadata: object, spec = {}) =>
    answerOf(await patch('/api/v1/nodes/n1', { metadata, spec }));
  expect(await change({ labels: { 'node.kubernetes.io/speed': 'fast' } })).toEqual(DONE);
  expect(await change({ labels: { 'node-restriction.kubernetes.io/secret': 'yes' } })).toEqual([
    403,
    'is not allowed to modify labels: node-restriction.kubernetes.io/secret',
  ]);
  expect(await change({}, { taints: [{ key: 'k', effect: 'NoSchedule' }] })).toEqual([
    403,
    'node "n1" is not allowed to modify taints',
  ]);
  expect(answerOf(await patch('/api/v1/nodes/n2', { metadata: { labels: { a: 'b' } } }))).toEqual([
    403,
    'node "n1" is not allowed to modify node "n2"',
  ]);
  const refused = await patch('/api/v1/nodes/n2/status', { status: { phase: 'Running' } });
  expect(refused.json).toMatchObject({
    reason: 'Forbidden',
    message: 'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
    details: { name: 'n2', kind: 'nodes' },
  });
  expect(answerOf(await patch('/api/v1/nodes/n1/status', { status: { phase: 'Running' } }))).toEqual(DONE);
});

test('a node cannot change through its status what a status does not have', async () => {
  const path = '/api/v1/nodes/n1/status';
  const taints = [{ key: 'k', effect: 'NoSchedule' }];
  const refused = [403, 'node "n1" is not allowed to modify taints'];
  expect(answerOf(await patch(path, { spec: { taints } }))).toEqual(refused);
  const { json } = await asNode('GET', '/api/v1/nodes/n1');
  expect(answerOf(await asNode('PUT', path, { ...json, spec: { ...json.spec, taints } }))).toEqual(refused);
  expect(answerOf(await asNode('PUT', path, json))).toEqual(DONE);
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  expect(answerOf(await patch(path, { metadata: { ownerReferences: [owner] } }))).toEqual([
    403,
    'node "n1" is not allowed to modify ownerReferences',
  ]);
  // Others are heard, and change nothing.
  const answer = await cluster.request(
    'PATCH',
    path,
    { spec: { taints } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect([answer.code, answer.json.spec.taints]).toEqual([200, json.spec.taints]);
});

test('a node mirrors its static pods, and makes no others', async () => {
  const { json: n1 } = await cluster.request('GET', '/api/v1/nodes/n1');
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: n1.metadata.uid, controller: true };
  const make = async (metadata: object) =>
    answerOf(
      await asNode('POST', POD, {
        metadata: { name: 'static-n1', ...metadata },
        spec: { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
      }),
    );
  const annotations = { 'kubernetes.io/config.mirror': 'x' };
  expect(await make({ ownerReferences: [owner] })).toEqual([
    403,
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ]);
  expect(await make({ annotations, ownerReferences: [{ ...owner, uid: 'x' }] })).toEqual([
    403,
    `node n1 UID mismatch: expected x got ${n1.metadata.uid}`,
  ]);
  expect(await make({ annotations, ownerReferences: [owner] })).toEqual(MADE);
  expect(answerOf(await asNode('DELETE', `${POD}/static-n1`))).toEqual(DONE);
});

test('a node tells of its own pods, evicts and deletes them, and leaves those of others alone', async () => {
  const status = { status: { phase: 'Running' } };
  expect(answerOf(await patch(`${POD}/on-n1/status`, status))).toEqual(DONE);
  expect(answerOf(await patch(`${POD}/on-n2/status`, status))).toEqual([
    403,
    'node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ]);
  expect(
    answerOf(await patch(`${POD}/on-n1/status`, { ...status, metadata: { labels: { app: 'db' } } })),
  ).toEqual([403, 'node "n1" cannot update labels through pod status']);
  const evict = async (name: string) =>
    answerOf(
      await asNode('POST', `${POD}/${name}/eviction`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name },
      }),
    );
  expect(await evict('on-n2')).toEqual([403, 'node n1 can only evict pods with spec.nodeName set to itself']);
  expect(answerOf(await asNode('DELETE', `${POD}/on-n2`))).toEqual([
    403,
    'node "n1" can only delete pods with spec.nodeName set to itself',
  ]);
  const spec = { nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] };
  await cluster.request('POST', POD, { metadata: { name: 'to-evict' }, spec });
  expect(await evict('to-evict')).toEqual(MADE);
  const { json } = await cluster.request('GET', `${POD}/to-evict`);
  // The node that runs it has its grace period to end it.
  expect(json.metadata).toMatchObject({ name: 'to-evict', deletionGracePeriodSeconds: 30 });
  expect(Date.parse(json.metadata.deletionTimestamp)).toBeGreaterThan(0);
});

test('a node gets tokens of the accounts of its pods, and only such as end with the pod', async () => {
  const ask = async (boundObjectRef?: object) =>
    asNode('POST', `${ACCOUNT}/token`, {
      spec: { audiences: ['x'], ...(boundObjectRef && { boundObjectRef }) },
    });
  const refTo = async (name: string) => {
    const { json } = await cluster.request('GET', `${POD}/${name}`);
    return { apiVersion: 'v1', kind: 'Pod', name, uid: json.metadata.uid };
  };
  await expect.poll(async () => (await ask(await refTo('on-n1'))).code).toBe(201);
  expect(answerOf(await ask())).toEqual([403, 'node requested token not bound to a pod']);
  expect(answerOf(await ask(await refTo('on-n2')))).toEqual([
    403,
    'node requested token bound to a pod scheduled on a different node',
  ]);
  expect((await cluster.request('POST', `${ACCOUNT}/token`, {})).code).toBe(201);
});

test('a node holds its own lease and no other', async () => {
  const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  const lease = (name: string) => ({
    metadata: { name },
    spec: { holderIdentity: 'n1', leaseDurationSeconds: 40 },
  });
  expect(answerOf(await asNode('POST', LEASES, lease('n2')))).toEqual([
    403,
    'can only access node lease with the same name as the requesting node',
  ]);
  expect(answerOf(await asNode('POST', LEASES, lease('n1')))).toEqual(MADE);
});

test('administrators do what nodes must not', async () => {
  expect((await cluster.kubectl('taint node n1 k=v:NoSchedule')).code).toBe(0);
  expect((await cluster.kubectl('label node n1 node-restriction.kubernetes.io/secret=yes')).code).toBe(0);
  expect((await cluster.kubectl('delete pod on-n2 --grace-period=0 --force')).code).toBe(0);
});
