// @module-tag long
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type Cluster, startCluster } from '../../kit/cluster.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** What plugins add to pods and nodes: those that are on by themselves, and those that flags and a file turn on. */

let database: TestDatabase;
let usual: Cluster;
let full: Cluster;

const CONFIG = `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodNodeSelector
  configuration:
    podNodeSelectorPluginConfig:
      clusterDefaultNodeSelector: disk=ssd
- name: PodTolerationRestriction
  configuration:
    apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1
    kind: Configuration
    default: [{key: team, operator: Exists}]
`;
const ENABLED = [
  'AlwaysPullImages',
  'ExtendedResourceToleration',
  'LimitPodHardAntiAffinityTopology',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'PodNodeSelector',
  'PodTolerationRestriction',
];

beforeAll(async () => {
  database = await createTestDatabase();
  usual = await startCluster(database.url);
  const file = join(tmpdir(), `admission-${process.pid}.yaml`);
  writeFileSync(file, CONFIG);
  full = await startCluster(database.url, [
    `--admission-control-config-file=${file}`,
    `--enable-admission-plugins=${ENABLED.join(',')}`,
  ]);
});

afterAll(async () => {
  await full[Symbol.asyncDispose]();
  await usual[Symbol.asyncDispose]();
  await database.drop();
});

const makePod = (on: Cluster, name: string, spec: object = {}, namespace = 'default'): Promise<Answer> =>
  on.request('POST', `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name },
    spec: { containers: [{ name: 'c', image: 'i:1' }], ...spec },
  });

test("the system's priority classes are there, and pods have the priority of theirs", async () => {
  const { stdout } = await usual.kubectl('get priorityclasses');
  expect(stdout).toMatch(/system-cluster-critical +2000000000 +false/);
  expect(stdout).toMatch(/system-node-critical +2000001000 +false/);
  const plain = await makePod(usual, 'plain');
  expect(plain.json.spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  const critical = await makePod(usual, 'critical', { priorityClassName: 'system-node-critical' });
  expect(critical.json.spec.priority).toBe(2_000_001_000);
  expect((await makePod(usual, 'p', { priorityClassName: 'none' })).json.message).toBe(
    'pods "p" is forbidden: no PriorityClass with name none was found',
  );
});

test("the system's priority classes cannot be deleted", async () => {
  const { code, json } = await usual.request(
    'DELETE',
    '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical',
  );
  expect([code, json.message]).toEqual([
    403,
    'priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted',
  ]);
});

test('of two default priority classes the second is refused', async () => {
  const make = (name: string) =>
    usual.kubectl(`create priorityclass ${name} --value=5 --global-default=true`);
  expect((await make('first')).code).toBe(0);
  expect((await make('second')).stderr).toContain(
    'PriorityClass first is already marked as default. Only one default can exist',
  );
  expect((await makePod(usual, 'p')).json.spec).toMatchObject({ priorityClassName: 'first', priority: 5 });
  await usual.kubectl('delete priorityclass first');
});

test('nodes begin tainted, and pods pay for their runtime', async () => {
  const node = await usual.request('POST', '/api/v1/nodes', { metadata: { name: 'n' } });
  expect(node.json.spec.taints).toEqual([{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
  await usual.request('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
    metadata: { name: 'sandbox' },
    handler: 'h',
    overhead: { podFixed: { cpu: '250m' } },
    scheduling: { nodeSelector: { sandbox: 'yes' } },
  });
  const pod = await makePod(usual, 'sandboxed', { runtimeClassName: 'sandbox' });
  expect(pod.json.spec).toMatchObject({ overhead: { cpu: '250m' }, nodeSelector: { sandbox: 'yes' } });
});

test('what flags and the file turn on is done to pods, in namespaces that come by themselves', async () => {
  const { code, json } = await makePod(full, 'p', {}, 'sudden');
  expect(code).toBe(201);
  expect(json.spec.containers[0].imagePullPolicy).toBe('Always');
  expect(json.spec.nodeSelector).toEqual({ disk: 'ssd' });
  expect(json.spec.tolerations.map(({ key }: { key: string }) => key)).toContain('team');
  expect(json.spec.serviceAccountName).toBe('default');
  expect((await full.request('DELETE', '/api/v1/namespaces/none/pods/p')).code).toBe(404);
});

test('a server that denies everything starts, and denies', async () => {
  const closed = await startCluster(database.url, ['--enable-admission-plugins=AlwaysDeny']);
  const refused = await closed.request('POST', '/api/v1/namespaces', { metadata: { name: 'x' } });
  expect(refused).toMatchObject({
    code: 403,
    json: { message: 'namespaces "x" is forbidden: admission control is denying all modifications' },
  });
  await closed[Symbol.asyncDispose]();
});
