// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../kit/cluster.ts';
import { PATIENCE } from '../kit/patience.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';

/** Why a revision was made, asked of a server that plays no controllers of workloads: the test writes what these would. */
let database: TestDatabase;
let cluster: Cluster;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startCluster(database.url, ['--authorization-mode=RBAC']);
});

afterAll(async () => {
  await cluster[Symbol.asyncDispose]();
  await database.drop();
});

const MASTERS = { 'impersonate-group': 'system:masters' };
const account = (name: string): Record<string, string> => ({
  ...MASTERS,
  'impersonate-user': `system:serviceaccount:kube-system:${name}`,
});

const REVISIONS = '/apis/history.cluster.io/v1alpha1/revisions';
const APPS = '/apis/apps/v1/namespaces/default';
const PODS = '/api/v1/namespaces/default/pods';

interface Meta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
}

interface Written {
  readonly metadata: Meta;
  readonly spec: { readonly template: { readonly spec: object; readonly metadata: object } };
}

async function write(
  headers: Record<string, string>,
  method: string,
  path: string,
  body?: unknown,
): Promise<Written> {
  const { code, json, text } = await cluster.request(method, path, body, headers);
  expect(code, text).toBeLessThan(300);
  return json;
}

const controlledBy = (kind: string, { metadata: { name, uid } }: Written) => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});

interface Link {
  readonly revision: string;
  readonly user: string;
  readonly object: { readonly kind: string; readonly name: string };
  readonly changes: readonly { readonly path: string; readonly new?: unknown }[];
  readonly confidence?: string;
  readonly evidence?: readonly string[];
}

const why = (revision: string, headers: Record<string, string> = {}): Promise<Answer> =>
  cluster.request('GET', `${REVISIONS}/${revision}/why`, undefined, headers);

const shown = ({ json }: Answer): string[] =>
  json.links.map(({ object, user, confidence }: Link) =>
    [`${object.kind} ${object.name}`, user, ...(confidence === undefined ? [] : [confidence])].join(', '),
  );

const MANIFEST = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web-settings}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`;

/** What the controllers, the scheduler and a kubelet make of the Deployment. Answers the pod's last state. */
async function rollOut(): Promise<Written> {
  const applied = await cluster.kubectl('apply --as=ann --as-group=system:masters -f -', MANIFEST);
  expect(applied.code, applied.stderr).toBe(0);
  const deployment = await write({}, 'GET', `${APPS}/deployments/web`);
  const { metadata, spec } = deployment.spec.template;
  const labels = { app: 'web', 'pod-template-hash': 'aaa' };
  const set = await write(account('deployment-controller'), 'POST', `${APPS}/replicasets`, {
    metadata: { name: 'web-aaa', ...controlledBy('Deployment', deployment) },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { ...metadata, labels }, spec },
    },
  });
  await write(account('replicaset-controller'), 'POST', PODS, {
    metadata: { name: 'web-aaa-x', labels, ...controlledBy('ReplicaSet', set) },
    spec: { containers: [{ name: 'web', image: 'web:1' }] },
  });
  await write(
    { ...MASTERS, 'impersonate-user': 'system:kube-scheduler' },
    'POST',
    `${PODS}/web-aaa-x/binding`,
    {
      metadata: { name: 'web-aaa-x' },
      target: { kind: 'Node', name: 'n1' },
    },
  );
  const { metadata: now } = await write({}, 'GET', `${PODS}/web-aaa-x`);
  return write({ ...MASTERS, 'impersonate-user': 'system:node:n1' }, 'PUT', `${PODS}/web-aaa-x/status`, {
    metadata: { name: now.name, resourceVersion: now.resourceVersion },
    status: { phase: 'Running' },
  });
}

test('a pod that runs is explained back to who applied which file, and what else the file held', async () => {
  const pod = await rollOut();
  const answer = await why(pod.metadata.resourceVersion);
  expect(answer.code, answer.text).toBe(200);
  expect(answer.json).toMatchObject({
    kind: 'Explanation',
    apiVersion: 'history.cluster.io/v1alpha1',
    metadata: { name: pod.metadata.resourceVersion },
    revision: pod.metadata.resourceVersion,
  });
  expect(shown(answer)).toEqual([
    'Pod web-aaa-x, system:node:n1',
    'Pod web-aaa-x, system:kube-scheduler, likely',
    'Pod web-aaa-x, system:serviceaccount:kube-system:replicaset-controller, certain',
    'ReplicaSet web-aaa, system:serviceaccount:kube-system:deployment-controller, certain',
    'Deployment web, ann, certain',
  ]);
  const { links, root, unknown, siblings } = answer.json;
  expect(unknown).toBeUndefined();
  expect(root).toBe(links.at(-1).revision);
  expect(links[1].changes).toContainEqual(expect.objectContaining({ path: 'spec.nodeName', new: 'n1' }));
  expect(siblings).toEqual([
    expect.objectContaining({
      object: expect.objectContaining({ kind: 'ConfigMap', name: 'web-settings' }),
      confidence: 'possible',
    }),
  ]);
});

test('the timeline of the Deployment names what answers what', async () => {
  const { json } = await cluster.request(
    'GET',
    '/apis/history.cluster.io/v1alpha1/timelines/deployments.apps:default:web',
  );
  const [deployment, set, pod, bound, runs] = json.entries;
  const causes = json.entries.map(({ cause }: { readonly cause?: string }) => cause);
  expect(runs.changes).toContainEqual(expect.objectContaining({ new: 'Running' }));
  expect(causes).toEqual([undefined, deployment.revision, set.revision, pod.revision, bound.revision]);
});

const READER = 'reader-of-pods';

test('a cause in an object that the caller may not read is mentioned, without its name', async () => {
  await cluster.kubectl(`create role ${READER} --verb=get,list --resource=pods`);
  await cluster.kubectl(`create rolebinding ${READER} --role=${READER} --user=${READER}`);
  const { metadata } = await write({}, 'GET', `${PODS}/web-aaa-x`);
  const { json, text } = await why(metadata.resourceVersion, { 'impersonate-user': READER });
  expect(json.links).toHaveLength(3);
  expect(json.unknown).toContain('may not read');
  expect(json).not.toHaveProperty('siblings');
  expect(text).not.toContain('ann');

  const { metadata: set } = await write({}, 'GET', `${APPS}/replicasets/web-aaa`);
  const refused = await why(set.resourceVersion, { 'impersonate-user': READER });
  expect(refused.json).toMatchObject({ kind: 'Status', code: 403 });
});

test('what is no revision, or none that is kept, is said to be so', async () => {
  expect((await why('999999999')).code).toBe(404);
  expect((await why('web')).code).toBe(400);
});

/** The revision by which an object was deleted. */
async function endOf(resource: string, name: string): Promise<string> {
  const fields = `object.resource=${resource},object.name=${name},verb=delete`;
  const path = `${REVISIONS}?fieldSelector=${encodeURIComponent(fields)}`;
  const newest = async () => (await cluster.request('GET', path)).json.items[0]?.metadata.name;
  await expect.poll(newest, PATIENCE).toBeDefined();
  return newest();
}

test('of large objects, the changes of the revision that is asked about are shown, and those of its causes left to these', async () => {
  const maps = '/api/v1/namespaces/default/configmaps';
  const data = { text: 'x'.repeat(1_000_000) };
  const { metadata: owner } = await write({}, 'POST', maps, { metadata: { name: 'large' }, data });
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'large', uid: owner.uid }];
  await write({}, 'POST', maps, { metadata: { name: 'large-owned', ownerReferences }, data });
  await write({}, 'DELETE', `${maps}/large`);
  const { json, text } = await why(await endOf('configmaps', 'large-owned'));
  expect(json.links[0].changes).toHaveLength(1);
  expect(json.links[1]).toMatchObject({ object: { name: 'large' }, changesTruncated: true });
  expect(json.links[1]).not.toHaveProperty('changes');
  expect(text.length).toBeLessThan(1_100_000);
});

test('the collector and the end of a namespace are explained by what a person deleted', async () => {
  const admin = 'ann';
  const as = { ...MASTERS, 'impersonate-user': admin };
  const maps = '/api/v1/namespaces/default/configmaps';
  const { metadata: owner } = await write(as, 'POST', maps, { metadata: { name: 'owner' } });
  await write({}, 'POST', maps, {
    metadata: {
      name: 'owned',
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.uid }],
    },
  });
  await write(as, 'DELETE', `${maps}/owner`);
  expect(shown(await why(await endOf('configmaps', 'owned')))).toEqual([
    'ConfigMap owned, system:serviceaccount:kube-system:generic-garbage-collector',
    'ConfigMap owner, ann, certain',
  ]);

  await write(as, 'POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
  await write({}, 'POST', '/api/v1/namespaces/team/secrets', {
    metadata: { name: 'inside' },
    data: { k: 'dg==' },
  });
  await write(as, 'DELETE', '/api/v1/namespaces/team');
  expect(shown(await why(await endOf('secrets', 'inside')))).toEqual([
    'Secret inside, system:apiserver',
    'Namespace team, ann, certain',
  ]);
});
