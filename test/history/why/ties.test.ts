import { beforeEach, expect, test } from 'vitest';
import type { PastWrite } from '../../../src/history/why/past.ts';
import {
  chainOf,
  controlledBy,
  controller,
  kubelet,
  person,
  SCHEDULER,
  Script,
  type Spoken,
} from './scripted-past.ts';

/** Causes that no owner reference tells of. */

const ANN = person('ann');
const BOB = person('bob');

let log: Script;
beforeEach(() => {
  log = new Script();
});

const causes = async (write: PastWrite): Promise<string[]> => chainOf(await log.why(write)).slice(1);

const pod = (name: string, metadata = {}): Spoken => ({
  kind: 'Pod',
  metadata: { name, ...metadata },
  spec: {},
});

const slice = (...pods: readonly PastWrite[]): Spoken => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-abc', labels: { 'kubernetes.io/service-name': 'web' } },
  endpoints: pods.map(({ key: { name }, uid, is }) => ({
    targetRef: { kind: 'Pod', name, uid },
    conditions: { ready: JSON.stringify(is).includes('Running') },
  })),
});

test('the objects that every namespace is given answer its creation', async () => {
  const space = log.put(ANN, { kind: 'Namespace', metadata: { name: 'team' } });
  log.put(BOB, { kind: 'Namespace', metadata: { name: 'other' } });
  const account = { kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'team' } };
  const made = log.put(controller('service-account-controller'), account);
  expect(await causes(made)).toEqual([`${space.revision} certain`]);
  const gone = log.remove(BOB, made);
  expect(await causes(log.put(controller('service-account-controller'), account))).toEqual([
    `${gone.revision} likely`,
  ]);
});

test('addresses answer the pod that they name, and the Service where no pod changed', async () => {
  const ENDPOINTS = controller('endpointslice-controller');
  const service = log.put(ANN, {
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' } },
  });
  const made = log.put(ENDPOINTS, slice());
  const [a, b] = [log.put(ANN, pod('a')), log.put(BOB, pod('b'))];
  const added = log.put(ENDPOINTS, slice(a, b));
  const runs = log.change(ANN, a, { status: { phase: 'Running' } });
  log.change(BOB, b, { metadata: { labels: { decoy: 'yes' } } });
  const ready = log.put(ENDPOINTS, slice(runs, b));
  const ports = log.change(BOB, service, { spec: { ports: [{ port: 80 }] } });
  const last = log.change(ENDPOINTS, ready, { ports: [{ port: 80 }] });

  expect(await causes(made)).toEqual([`${service.revision} likely`]);
  expect(await causes(added)).toEqual([`${b.revision} likely`]);
  expect(await causes(ready)).toEqual([`${runs.revision} likely`]);
  expect(await causes(last)).toEqual([`${ports.revision} likely`]);
});

test('an autoscaler is named by its target', async () => {
  const web = log.put(ANN, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: { replicas: 1 },
  });
  const scaler = (name: string): Spoken => ({
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name },
    spec: { scaleTargetRef: { kind: 'Deployment', name }, maxReplicas: 5 },
  });
  const right = log.put(BOB, scaler('web'));
  log.put(ANN, scaler('other'));
  const scaled = log.change(controller('horizontal-pod-autoscaler'), web, { spec: { replicas: 4 } });
  expect(await causes(scaled)).toEqual([`${right.revision} likely`]);
});

test('an aggregated role answers the newest role that it selects', async () => {
  const role = (name: string, labels = {}, rules: string[] = []): Spoken => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: rules.map((resource) => ({ resources: [resource] })),
  });
  const view = log.put(ANN, {
    ...role('view'),
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'to-view': 'true' } }] },
  });
  const selected = log.put(BOB, role('part', { 'to-view': 'true' }, ['widgets']));
  log.put(ANN, role('decoy', { 'to-view': 'false' }, ['gadgets']));
  const written = log.change(controller('clusterrole-aggregation-controller'), view, {
    rules: [{ resources: ['widgets'] }],
  });
  expect(await causes(written)).toEqual([`${selected.revision} likely`]);
});

test('a quota counts what was created or ended last, and says when admission charged it ahead', async () => {
  const quota = log.put(ANN, {
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: { pods: '2' } },
  });
  const QUOTAS = controller('resourcequota-controller');
  const used = (pods: string) => ({ status: { used: { pods } } });
  const first = log.change(QUOTAS, quota, used('0'));
  const made = log.put(BOB, pod('p'));
  log.put(ANN, { kind: 'Service', metadata: { name: 'decoy' } });
  const counted = log.change(QUOTAS, quota, used('1'));
  const gone = log.remove(BOB, made);
  log.put(ANN, pod('q'));
  const fewer = log.change(QUOTAS, quota, used('0'));
  const author = { user: 'system:apiserver', userAgent: 'resource-quota', manager: 'resource-quota' };
  const charged = log.change(author, quota, used('10'));

  expect(await causes(first)).toEqual([`${quota.revision} likely`]);
  expect(await causes(counted)).toEqual([`${made.revision} likely`]);
  expect(await causes(fewer)).toEqual([`${gone.revision} likely`]);
  expect(await log.why(charged)).toMatchObject({
    links: [{ write: charged }],
    unknown: expect.stringContaining('ahead of the write'),
  });
});

test('an Event tells of the state that its author had read', async () => {
  const first = log.put(ANN, pod('p'));
  const second = log.change(BOB, first, { spec: { nodeName: 'n1' } });
  const event = (name: string, resourceVersion: string): Spoken => ({
    kind: 'Event',
    metadata: { name },
    involvedObject: { kind: 'Pod', name: 'p', namespace: 'default', uid: first.uid, resourceVersion },
  });
  expect(await causes(log.put(kubelet('n1'), event('a', `${first.revision}`)))).toEqual([
    `${first.revision} certain`,
  ]);
  expect(await causes(log.put(kubelet('n1'), event('b', '')))).toEqual([`${second.revision} likely`]);
});

test('a pod that was placed at once answers its creation with certainty, one that waited does not', async () => {
  const [quick, slow] = [log.put(ANN, pod('quick')), log.put(ANN, pod('slow'))];
  log.change(SCHEDULER, slow, { status: { conditions: [{ type: 'PodScheduled', status: 'False' }] } });
  expect(await causes(log.change(SCHEDULER, quick, { spec: { nodeName: 'n1' } }))).toEqual([
    `${quick.revision} certain`,
  ]);
  expect(await causes(log.change(SCHEDULER, slow, { spec: { nodeName: 'n1' } }))).toEqual([
    `${slow.revision} likely`,
  ]);
});

test('a claim of a StatefulSet is recognised by its name, a bound one by its volume', async () => {
  const set = log.put(ANN, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'data-base' },
    spec: { replicas: 1 },
  });
  log.put(BOB, {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'data' },
    spec: { replicas: 1 },
  });
  const claim = { kind: 'PersistentVolumeClaim', metadata: { name: 'disk-data-base-0' }, spec: {} };
  const made = log.put(controller('statefulset-controller'), claim);
  const volume = log.put(BOB, {
    kind: 'PersistentVolume',
    metadata: { name: 'pv' },
    spec: { claimRef: { namespace: 'default', name: claim.metadata.name } },
  });
  const bound = log.change(controller('persistent-volume-binder'), made, { spec: { volumeName: 'pv' } });
  expect(await causes(made)).toEqual([`${set.revision} likely`]);
  expect(await causes(bound)).toEqual([`${volume.revision} likely`]);
});

test('a pod of a StatefulSet answers the write whose template it has, or the end of the one before', async () => {
  const SETS = controller('statefulset-controller');
  const wanted = (image: string): Spoken => ({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: { replicas: 1, template: { spec: { image } } },
  });
  const set = log.put(ANN, wanted('db:1'));
  const template = log.put(SETS, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name: 'db-aaa', ...controlledBy(set) },
  });
  log.put(BOB, wanted('db:2'));
  const member = pod('db-0', { ...controlledBy(set), labels: { 'controller-revision-hash': 'db-aaa' } });
  const made = log.put(SETS, member);
  const deleted = log.remove(BOB, made);
  const again = log.put(SETS, member);

  expect(await causes(template)).toEqual([`${set.revision} likely`]);
  expect(await causes(made)).toEqual([`${set.revision} likely`]);
  expect(await causes(again)).toEqual([`${deleted.revision} likely`]);
});

test('a pod of a DaemonSet answers the node that came after the last change of its owner', async () => {
  const DAEMONS = controller('daemon-set-controller');
  const node = (name: string) => log.put(kubelet(name), { kind: 'Node', metadata: { name }, spec: {} });
  const on = (name: string) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
        },
      },
    },
  });
  node('n1');
  const set = log.put(ANN, { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: 'd' }, spec: {} });
  const first = log.put(DAEMONS, { ...pod('d-1', controlledBy(set)), spec: on('n1') });
  const added = node('n2');
  node('n3');
  const second = log.put(DAEMONS, { ...pod('d-2', controlledBy(set)), spec: on('n2') });
  expect(await causes(first)).toEqual([`${set.revision} likely`]);
  expect(await causes(second)).toEqual([`${added.revision} likely`]);
});

test('a Job of a CronJob names when it was due', async () => {
  const cron = log.put(ANN, {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'c' },
    spec: { schedule: '* * * * *' },
  });
  const due = '2026-01-31T00:05:00Z';
  const job = log.put(controller('cronjob-controller'), {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: 'c-1',
      ...controlledBy(cron),
      annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': due },
    },
    spec: {},
  });
  const { links } = await log.why(job);
  expect(links[1]).toMatchObject({
    write: cron,
    confidence: 'likely',
    evidence: [expect.stringContaining(due)],
  });
});

test('a Job makes its first pods because it was made, and others when one has ended', async () => {
  const job = log.put(ANN, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j' },
    spec: { completions: 2 },
  });
  const JOBS = controller('job-controller');
  const first = log.put(JOBS, pod('j-1', controlledBy(job)));
  const ended = log.change(kubelet('n1'), first, { status: { phase: 'Failed' } });
  log.change(JOBS, first, { metadata: { finalizers: [] } });
  const second = log.put(JOBS, pod('j-2', controlledBy(job)));
  expect(await causes(first)).toEqual([`${job.revision} likely`]);
  expect((await causes(second))[0]).toBe(`${ended.revision} likely`);
});

test('a node is called unknown because its lease was renewed no more', async () => {
  const node = log.put(kubelet('n1'), { kind: 'Node', metadata: { name: 'n1' }, spec: {} });
  const lease = {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'n1', namespace: 'kube-node-lease' },
  };
  log.put(kubelet('n1'), lease);
  const renewed = log.put(kubelet('n1'), { ...lease, spec: { renewTime: 'now' } });
  const silent = log.change(controller('node-controller'), node, {
    status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] },
  });
  const why = await log.why(silent);
  expect(chainOf(why).slice(1)).toEqual([`${renewed.revision} likely`]);
  expect(why.unknown).toContain('not in history');
});
