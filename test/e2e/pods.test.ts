import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer, Cluster } from '../kit/cluster.ts';
import { type SharedCluster, shareCluster } from '../kit/shared-cluster.ts';

/** The life of a pod, with this test as its scheduler and its node. */

let shared: SharedCluster;
let cluster: Cluster;

beforeAll(async () => {
  shared = await shareCluster();
  ({ cluster } = shared);
});

afterAll(() => shared[Symbol.asyncDispose]());

async function ok(args: string, input?: string): Promise<string> {
  const result = await cluster.kubectl(args, input);
  expect(result, `kubectl ${args}`).toMatchObject({ code: 0 });
  return result.stdout;
}

const podPath = (name: string): string => `/api/v1/namespaces/default/pods/${name}`;

const bind = (name: string): Promise<Answer> =>
  cluster.request('POST', `${podPath(name)}/binding`, {
    kind: 'Binding',
    apiVersion: 'v1',
    metadata: { name },
    target: { kind: 'Node', name: 'node-1' },
  });

const report = (name: string, status: unknown): Promise<Answer> =>
  cluster.request(
    'PATCH',
    `${podPath(name)}/status`,
    { status },
    {
      'content-type': 'application/merge-patch+json',
    },
  );

const evict = (name: string): Promise<Answer> =>
  cluster.request('POST', `${podPath(name)}/eviction`, {
    kind: 'Eviction',
    apiVersion: 'policy/v1',
    metadata: { name },
  });

const READY = {
  phase: 'Running',
  podIP: '10.0.0.1',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [
    { name: 'one', ready: true, restartCount: 0, image: 'a', imageID: 'a', state: { running: {} } },
  ],
};

test('a pod is placed once, reports that it runs, and is shown so', async () => {
  await ok('run one --image=nginx:1 --labels=app=one');
  expect((await bind('one')).code).toBe(201);
  const again = await bind('one');
  expect(again).toMatchObject({ code: 409 });
  expect(again.json.message).toContain('pod one is already assigned to node "node-1"');
  expect((await report('one', READY)).json.status.podIPs).toEqual([{ ip: '10.0.0.1' }]);
  expect(await ok('get pod one -o wide')).toMatch(/one\s+1\/1\s+Running\s+0\s+\S+\s+10\.0\.0\.1\s+node-1/);
});

test('its image can be changed, its command can not', async () => {
  await ok('set image pod/one one=nginx:2');
  const refused = await cluster.kubectl(
    `patch pod one -p '{"spec":{"containers":[{"name":"one","command":["sh"]}]}}'`,
  );
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('pod updates may not change fields other than');
});

test('a container for debugging is added, and stays', async () => {
  await ok('debug one --image=busybox --container=look');
  expect(await ok("get pod one -o jsonpath='{.spec.ephemeralContainers[0].imagePullPolicy}'")).toContain(
    'Always',
  );
  const removed = await cluster.request(
    'PATCH',
    `${podPath('one')}/ephemeralcontainers`,
    { spec: { ephemeralContainers: null } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect(removed).toMatchObject({ code: 422 });
  expect(removed.json.message).toContain('existing ephemeral containers "look" may not be removed');
});

test('it is evicted as soon as its budget allows', async () => {
  await ok('create poddisruptionbudget one --selector=app=one --min-available=1');
  const budget = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/one/status';
  const allow = (disruptionsAllowed: number): Promise<Answer> => {
    const numbers = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    const status = { observedGeneration: 1, disruptionsAllowed, ...numbers };
    return cluster.request('PATCH', budget, { status }, { 'content-type': 'application/merge-patch+json' });
  };
  await allow(0);
  expect(await evict('one')).toMatchObject({
    code: 429,
    json: { details: { causes: [{ reason: 'DisruptionBudget' }] } },
  });
  await allow(1);
  expect(await evict('one')).toMatchObject({ code: 201 });
  const { json } = await cluster.request('GET', podPath('one'));
  expect(json.metadata.deletionGracePeriodSeconds).toBe(30);
  expect(json.status.conditions).toContainEqual(
    expect.objectContaining({ type: 'DisruptionTarget', reason: 'EvictionByEvictionAPI' }),
  );
});

test('what is wrong with a new pod is said all at once, and what is doubtful with it', async () => {
  const bad = await cluster.kubectl(
    'apply -f -',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {restartPolicy: Often, containers: [{name: A, image: a}]}',
  );
  expect(bad.stderr).toContain('spec.containers[0].name: Invalid value: "A"');
  expect(bad.stderr).toContain('spec.restartPolicy: Unsupported value: "Often"');
  const doubtful = await cluster.kubectl(
    'apply -f -',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: old}\nspec: {nodeSelector: {beta.kubernetes.io/os: linux}, containers: [{name: a, image: a}]}',
  );
  expect(doubtful.code).toBe(0);
  expect(doubtful.stderr).toContain(
    'Warning: spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14',
  );
});

test('pods are found by what their spec does not say', async () => {
  expect(await ok('get pods --field-selector=spec.hostNetwork=false -o name')).toContain('pod/old');
});
