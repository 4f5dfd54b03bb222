import type { FakeAnswer } from './fake-kubectl.ts';

/** What a server answers of a deployment that got a bad image, and of those who had to do with it. */

export const HISTORY = '/apis/history.cluster.io/v1alpha1';
const WEB = 'object.resource=deployments.apps,object.namespace=shop,object.name=web';

const deployment = {
  ...{ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' },
  ...{ namespace: 'shop', name: 'web', uid: '6f1d' },
};
const replicaSet = {
  ...deployment,
  resource: 'replicasets',
  kind: 'ReplicaSet',
  name: 'web-7d4b9',
  uid: '7a2e',
};
const pod = { ...replicaSet, group: '', resource: 'pods', kind: 'Pod', name: 'web-7d4b9-x2x7k', uid: '8b3f' };
const settings = { ...pod, resource: 'configmaps', kind: 'ConfigMap', name: 'settings', uid: '9c40' };

const CONTROLLER = 'system:serviceaccount:kube-system:';
const IMAGE = 'spec.template.spec.containers[name=web].image';

const named = (number: string) => ({ metadata: { name: number, resourceVersion: number } });

export const status = {
  ...named('4713'),
  ...{ object: deployment, verb: 'update', at: '2026-11-22T14:08:01.000000Z', previous: '4712' },
  ...{ user: `${CONTROLLER}deployment-controller`, manager: 'kube-controller-manager' },
  changes: [{ path: 'status.observedGeneration', old: 2, new: 3 }],
};
export const badImage = {
  ...named('4712'),
  ...{
    object: deployment,
    verb: 'update',
    at: '2026-11-22T14:08:00.120000Z',
    previous: '4700',
    generation: 3,
  },
  ...{
    user: 'alice',
    manager: 'kubectl-edit',
    userAgent: 'kubectl/v1.31.9',
    sourceAddress: '10.0.0.7',
    requestID: 'r-1',
  },
  changes: [
    { path: 'metadata.generation', old: 2, new: 3 },
    { path: IMAGE, old: 'nginx:1.26', new: 'nginx:9.99' },
    { path: 'spec.replicas', old: 2, new: 3 },
    { path: 'metadata.labels.tier', new: 'gold' },
    { path: 'spec.paused', old: true },
  ],
};
export const created = {
  ...named('4700'),
  ...{
    object: deployment,
    verb: 'create',
    at: '2026-11-21T09:00:00.000000Z',
    user: 'bob',
    manager: 'kubectl-create',
  },
  changes: [{ path: '', new: { kind: 'Deployment' } }],
};
export const settingsChanged = {
  ...named('4705'),
  ...{
    object: settings,
    verb: 'update',
    at: '2026-11-22T13:00:00.000000Z',
    user: 'alice',
    manager: 'kubectl-edit',
  },
  changes: [
    { path: 'data["app.conf"]', old: 'a=1\nb=2\nc=3\n', new: 'a=1\nb=4\nc=3\n' },
    { path: 'data.hostile', old: 'plain', new: '\u001b[31mred\u001b[0m\r\u202egnp.exe' },
  ],
};
export const settingsDeleted = {
  ...named('4709'),
  ...{
    object: settings,
    verb: 'delete',
    at: '2026-11-22T13:10:00.000000Z',
    user: 'alice',
    manager: 'kubectl-delete',
  },
  previous: '4705',
  changes: [{ path: '', old: { kind: 'ConfigMap' } }],
};
const secretDeleted = {
  ...settingsDeleted,
  ...named('4710'),
  object: { ...settings, resource: 'secrets', kind: 'Secret', name: 'key' },
};
const secretCreated = { ...secretDeleted, ...named('4711'), verb: 'create', user: 'bob' };

const podDeleted = {
  ...settingsDeleted,
  ...named('4715'),
  ...{ object: pod, user: `${CONTROLLER}replicaset-controller`, manager: 'kube-controller-manager' },
};

const list = (...items: unknown[]): FakeAnswer => ({
  body: { kind: 'RevisionList', metadata: { resourceVersion: '4720' }, items },
});

const link = ({ metadata, ...rest }: typeof badImage | typeof created, more: object): object => ({
  ...rest,
  revision: metadata.name,
  ...more,
});

const sibling = (revision: string, object: object, confidence: string, evidence: string): object => ({
  ...{ revision, object, confidence, evidence: [evidence] },
  ...{ at: '2026-11-22T14:08:00.500000Z', verb: 'update', user: 'alice', manager: 'kubectl-edit' },
});

export const explanation = {
  kind: 'Explanation',
  revision: '4719',
  root: '4712',
  links: [
    {
      ...{ revision: '4719', at: '2026-11-22T14:08:03Z', verb: 'create', object: pod, changes: [] },
      ...{ user: `${CONTROLLER}replicaset-controller`, manager: 'kube-controller-manager' },
    },
    {
      ...{ revision: '4717', at: '2026-11-22T14:08:02Z', verb: 'create', object: replicaSet, changes: [] },
      ...{ user: `${CONTROLLER}deployment-controller`, manager: 'kube-controller-manager' },
      ...{ evidence: ['owns the pod'], confidence: 'certain' },
    },
    link(badImage, {
      evidence: ['owns the replica set', 'its template became that of the replica set'],
      confidence: 'likely',
    }),
  ],
  siblings: [
    sibling('4714', { ...settings, name: 'flags' }, 'certain', 'The same request, r-1, wrote it.'),
    sibling('4711', settings, 'possible', 'alice wrote it with the same client within 3 seconds.'),
    sibling(
      '4710',
      { ...settings, name: 'red\u001b[31m' },
      'possible',
      'alice wrote it with the same client within 3 seconds.',
    ),
  ],
};

const timeline = {
  kind: 'Timeline',
  entries: [
    link(badImage, {}),
    {
      ...{ revision: '4717', at: '2026-11-22T14:08:02Z', verb: 'create', object: replicaSet, changes: [] },
      ...{ user: `${CONTROLLER}deployment-controller`, manager: 'kube-controller-manager', cause: '4712' },
    },
    {
      ...{
        revision: '4724',
        at: '2026-11-22T14:09:30Z',
        verb: 'update',
        object: pod,
        user: 'system:node:n1',
      },
      event: {
        type: 'Warning',
        reason: 'BackOff',
        message: 'Back-off pulling\nimage "nginx:9.99"',
        count: 5,
      },
    },
  ],
};

const blamed = (path: string, value: unknown, by?: typeof created) => ({
  ...{ path, value },
  ...(by && { revision: by.metadata.name, at: by.at, user: by.user, manager: by.manager }),
});

const CONTAINER = 'spec.template.spec.containers[name=web]';

const blame = {
  kind: 'Blame',
  object: deployment,
  revision: '4713',
  fields: [
    blamed('apiVersion', 'apps/v1'),
    blamed('kind', 'Deployment'),
    blamed('metadata.annotations["a.example/b"]', 'yes'),
    blamed('metadata.labels.tier', 'gold', badImage as unknown as typeof created),
    blamed('metadata.name', 'web', created),
    blamed('spec.replicas', 3, badImage as unknown as typeof created),
    blamed(`${CONTAINER}.args`, ['-c', 'sleep 1'], created),
    blamed(`${CONTAINER}.image`, 'nginx:9.99', badImage as unknown as typeof created),
    blamed(`${CONTAINER}.name`, 'web', created),
    blamed(`${CONTAINER}.ports[containerPort=80,protocol=TCP].containerPort`, 80, created),
    blamed(`${CONTAINER}.ports[containerPort=80,protocol=TCP].protocol`, 'TCP', created),
  ],
};

const stateOf = (image: string, replicas: number, resourceVersion: string): FakeAnswer => ({
  body: {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment' },
    metadata: { name: 'web', namespace: 'shop', resourceVersion, managedFields: [{ manager: 'x' }] },
    spec: { replicas, template: { spec: { containers: [{ name: 'web', image }] } } },
  },
});

const OBJECT = '/apis/apps/v1/namespaces/shop/deployments/web';

export const planned = {
  object: deployment,
  action: 'updated',
  changes: [{ path: IMAGE, old: 'nginx:9.99', new: 'nginx:1.26' }],
};

export const ANSWERS: Record<string, FakeAnswer> = {
  [`${HISTORY}/revisions?fieldSelector=${WEB}&limit=500`]: list(status, badImage, created),
  [`${HISTORY}/revisions?fieldSelector=${WEB}&limit=10`]: list(status, badImage, created),
  [`${HISTORY}/revisions?limit=500`]: list(status, badImage, settingsDeleted, settingsChanged, created),
  [`${HISTORY}/revisions?since=2026-11-22T13:05:00.000Z&limit=500`]: list(status, badImage, settingsDeleted),
  [`${HISTORY}/revisions?fieldSelector=object.namespace=shop&limit=500`]: list(badImage, settingsChanged),
  [`${HISTORY}/revisions?fieldSelector=object.namespace=shop,verb=delete&limit=500`]: list(
    podDeleted,
    secretDeleted,
    settingsDeleted,
  ),
  [`${HISTORY}/revisions?fieldSelector=object.namespace=shop,verb=create&since=4709&limit=500`]: list(
    secretCreated,
    created,
  ),
  [`${HISTORY}/revisions?fieldSelector=object.resource=pods,object.namespace=shop,object.name=web-7d4b9-x2x7k&limit=500`]:
    list({ ...created, ...named('4719'), object: pod }),
  [`${HISTORY}/revisions?fieldSelector=object.resource=configmaps,object.namespace=shop,object.name=settings&limit=100`]:
    list(settingsDeleted, settingsChanged),
  [`${HISTORY}/revisions?fieldSelector=${WEB}&limit=100`]: list(status, badImage, created),
  [`${HISTORY}/revisions/4712`]: { body: badImage },
  [`${HISTORY}/revisions/4709`]: { body: settingsDeleted },
  [`${HISTORY}/revisions/4719/why`]: { body: explanation },
  [`${HISTORY}/revisions/4715/why`]: { body: explanation },
  [`${HISTORY}/timelines/deployments.apps:shop:web?limit=500`]: { body: timeline },
  [`${HISTORY}/blames/deployments.apps:shop:web`]: { body: blame },
  [`${OBJECT}`]: stateOf('nginx:9.99', 3, '4713'),
  [`${OBJECT}?asOf=4712`]: stateOf('nginx:9.99', 3, '4712'),
  [`${OBJECT}?asOf=4711`]: stateOf('nginx:1.26', 2, '4700'),
  [`${OBJECT}?asOf=2026-11-22T14:00:00.000Z`]: stateOf('nginx:1.26', 2, '4700'),
  [`${OBJECT}?asOf=4699`]: { reason: 'NotFound', message: 'deployments.apps "web" not found' },
  [`${OBJECT}?asOf=12`]: {
    reason: 'Expired',
    message: 'asOf: history is kept from revision 4000 (2026-11-21T00:00:00.000Z)',
  },
  [`POST ${HISTORY}/restores?dryRun=All`]: { body: { kind: 'Restore', status: { results: [planned] } } },
  [`POST ${HISTORY}/restores`]: {
    body: { kind: 'Restore', status: { results: [{ ...planned, revision: '4730' }] } },
  },
};
