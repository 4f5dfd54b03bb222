import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../src/admission/admission.ts';
import { createNodeRestriction } from '../../src/admission/plugins/node-restriction/node-restriction.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { nodeNameOf } from '../../src/authz/node-authorizer.ts';
import { attributesOf, FakeCluster, refusalOf, toObject } from '../kit/admission.ts';
import { makeRequest } from '../kit/certificate-request.ts';

const node = { username: 'system:node:mine', uid: '', groups: ['system:nodes'], extra: {} };
const pod = (name: string, nodeName: string, rest: JsonObject = {}): JsonObject => ({
  metadata: { name, namespace: 'default', uid: `${name}-uid` },
  spec: { nodeName },
  ...rest,
});
const objects = new FakeCluster({
  nodes: [{ metadata: { name: 'mine', uid: 'mine-uid' } }],
  pods: [pod('own', 'mine'), pod('foreign', 'other'), pod('unbound', '')],
});
const plugin = (recoversExpansion = false) =>
  createNodeRestriction({ objects, nodeOf: nodeNameOf, recoversExpansion });

/** Without what all refusals begin with. */
async function refused(
  resource: string,
  attributes: Partial<AdmissionAttributes>,
  recoversExpansion = false,
): Promise<string | undefined> {
  const write = attributesOf(resource, { user: node, ...attributes });
  return (await refusalOf(plugin(recoversExpansion), write))?.replace(/^.*? is forbidden: /, '');
}

const owner: JsonObject = { apiVersion: 'v1', kind: 'Node', name: 'mine', uid: 'mine-uid', controller: true };
const mirror = (spec: JsonObject = {}, owners: JsonObject[] = [owner]) =>
  toObject({
    metadata: {
      name: 'static-mine',
      namespace: 'default',
      annotations: { 'kubernetes.io/config.mirror': 'x' },
      ownerReferences: owners as never,
    },
    spec: { nodeName: 'mine', ...spec },
  });

const SELF = 'node "mine" can only create pods with an owner reference set to itself';
const REFERENCE = 'node "mine" can not create pods that reference';

test.each<[string, JsonObject, JsonObject[], string | undefined]>([
  ['its own', {}, [owner], undefined],
  [
    'another node',
    { nodeName: 'other' },
    [owner],
    'node "mine" can only create pods with spec.nodeName set to itself',
  ],
  ['no node', { nodeName: '' }, [owner], 'node "mine" can only create pods with spec.nodeName set to itself'],
  ['no owner', {}, [], SELF],
  [
    'two owners',
    {},
    [owner, owner],
    'node "mine" can only create pods with a single owner reference set to itself',
  ],
  ['another name', {}, [{ ...owner, name: 'other' }], SELF],
  ['another kind', {}, [{ ...owner, kind: 'Pod' }], SELF],
  ['another version', {}, [{ ...owner, apiVersion: 'v2' }], SELF],
  ['another uid', {}, [{ ...owner, uid: 'x' }], 'node mine UID mismatch: expected x got mine-uid'],
  [
    'no controller',
    {},
    [{ ...owner, controller: false }],
    'node "mine" can only create pods with a controller owner reference set to itself',
  ],
  [
    'a held owner',
    {},
    [{ ...owner, blockOwnerDeletion: true }],
    'node "mine" must not set blockOwnerDeletion on an owner reference',
  ],
  ['an account', { serviceAccountName: 'a' }, [owner], `${REFERENCE} a service account`],
  ['a secret', { volumes: [{ secret: { secretName: 's' } }] }, [owner], `${REFERENCE} secrets`],
  ['a pull secret', { imagePullSecrets: [{ name: 's' }] }, [owner], `${REFERENCE} secrets`],
  ['a config map', { volumes: [{ configMap: { name: 'c' } }] }, [owner], `${REFERENCE} configmaps`],
  [
    'an environment',
    { containers: [{ envFrom: [{ configMapRef: { name: 'c' } }] }] },
    [owner],
    `${REFERENCE} configmaps`,
  ],
  [
    'trust',
    { volumes: [{ projected: { sources: [{ clusterTrustBundle: { name: 't' } }] } }] },
    [owner],
    `${REFERENCE} clustertrustbundles`,
  ],
  [
    'a claim',
    { volumes: [{ persistentVolumeClaim: { claimName: 'c' } }] },
    [owner],
    `${REFERENCE} persistentvolumeclaims`,
  ],
])('a mirror pod with %s', async (_, spec, owners, why) => {
  expect(await refused('pods', { object: mirror(spec, owners) })).toBe(why);
});

test('a mirror pod of a node that does not exist is refused with 404', async () => {
  const user = { ...node, username: 'system:node:gone' };
  const object = mirror({ nodeName: 'gone' }, [{ ...owner, name: 'gone' }]);
  expect(await refused('pods', { user, object })).toBe('node "gone" not found');
});

test.each<[string, Partial<AdmissionAttributes>, string | undefined]>([
  [
    'made without being mirrors',
    { object: toObject(pod('p', 'mine')) },
    'pod does not have "kubernetes.io/config.mirror" annotation, node "mine" can only create mirror pods',
  ],
  [
    'changed',
    { operation: 'UPDATE', object: mirror(), old: mirror() },
    'unexpected operation "UPDATE", node "mine" can only create and delete mirror pods',
  ],
  ['deleted that run there', { operation: 'DELETE', old: toObject(pod('own', 'mine')) }, undefined],
  [
    'deleted that run elsewhere',
    { operation: 'DELETE', old: toObject(pod('foreign', 'other')) },
    'node "mine" can only delete pods with spec.nodeName set to itself',
  ],
  [
    'given containers for debugging',
    { operation: 'UPDATE', subresource: 'ephemeralcontainers', object: mirror(), old: mirror() },
    "unexpected pod subresource \"ephemeralcontainers\", only 'status' and 'eviction' are allowed",
  ],
])('of pods, those %s', async (_, attributes, why) => {
  expect(await refused('pods', attributes)).toBe(why);
});

const status = (nodeName: string, labels = {}, resourceClaimStatuses: JsonObject[] = []) =>
  toObject({ metadata: { labels }, spec: { nodeName }, status: { resourceClaimStatuses } });

test.each([
  ['its own', status('mine'), status('mine'), undefined],
  [
    'another node',
    status('other'),
    status('other'),
    'node "mine" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'labels',
    status('mine'),
    status('mine', { a: 'b' }),
    'node "mine" cannot update labels through pod status',
  ],
  [
    'claims',
    status('mine', {}, [{ name: 'a' }]),
    status('mine', {}, [{ name: 'a', resourceClaimName: 'c' }]),
    'node "mine" cannot update resource claim statues',
  ],
  [
    'the claim for its extended resources',
    status('mine'),
    toObject({
      spec: { nodeName: 'mine' },
      status: { extendedResourceClaimStatus: { resourceClaimName: 'c' } },
    }),
    'node "mine" cannot update extended resource claim status',
  ],
])('the status of a pod, %s', async (_, old, object, why) => {
  const operation = 'UPDATE';
  expect(await refused('pods', { operation, subresource: 'status', object, old })).toBe(why);
});

test.each([
  ['own', undefined],
  ['foreign', 'node mine can only evict pods with spec.nodeName set to itself'],
  ['unbound', 'node mine can only evict pods with spec.nodeName set to itself'],
  ['none', 'pod "none" not found'],
  ['', 'could not determine pod from request data'],
])('evicting pod %j', async (name, why) => {
  const object = toObject({ metadata: { name } });
  expect(await refused('pods', { subresource: 'eviction', object, name })).toBe(why);
});

test('the name in an eviction counts where the path has none', async () => {
  const object = toObject({ metadata: { name: 'own' } });
  expect(await refused('pods', { subresource: 'eviction', object, name: '' })).toBeUndefined();
  const removal = { operation: 'DELETE', subresource: 'eviction', old: object } as const;
  expect(await refused('pods', removal)).toBe('unexpected operation DELETE');
});

const own = (labels: Record<string, string> = {}, spec: JsonObject = {}, metadata: JsonObject = {}) =>
  toObject({ metadata: { name: 'mine', labels, ...metadata }, spec });
const ALLOWED = Object.fromEntries(
  [
    ...['foo', 'example.com/foo', 'kubernetes.io/hostname', 'kubernetes.io/os', 'kubernetes.io/arch'],
    ...['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/region', 'beta.kubernetes.io/os'],
    ...['beta.kubernetes.io/instance-type', 'node.kubernetes.io/foo', 'foo.kubelet.kubernetes.io/foo'],
  ].map((key) => [key, 'value']),
);
const FORBIDDEN = {
  'node-restriction.kubernetes.io/foo': 'value',
  'foo.node-restriction.kubernetes.io/foo': 'value',
  'other.kubernetes.io/foo': 'value',
  'other.k8s.io/foo': 'value',
};
const LIST =
  'foo.node-restriction.kubernetes.io/foo, node-restriction.kubernetes.io/foo, other.k8s.io/foo, other.kubernetes.io/foo';
const TAINTS = 'node "mine" is not allowed to modify taints';
const taints = (value: string): JsonObject => ({ taints: [{ key: 'k', value }] });
const config = (name: string): JsonObject => ({ configSource: { configMap: { name } } });
const CONFIG = 'node "mine" is not allowed to update configSource to a new non-nil configSource';
const OWNERS = 'node "mine" is not allowed to modify ownerReferences';
const owned = own({}, {}, { ownerReferences: [owner] });

test.each<
  [string, ReturnType<typeof own> | undefined, ReturnType<typeof own> | undefined, string | undefined]
>([
  ['is made', undefined, own(), undefined],
  ['is made with taints', undefined, own({}, taints('a')), undefined],
  ['is made with labels', undefined, own(ALLOWED), undefined],
  [
    'is made with labels of others',
    undefined,
    own({ ...ALLOWED, ...FORBIDDEN }),
    `node "mine" is not allowed to set the following labels: ${LIST}`,
  ],
  [
    'is made with a configuration',
    undefined,
    own({}, config('a')),
    'node "mine" is not allowed to create pods with a non-nil configSource',
  ],
  ['is left alone', own(FORBIDDEN, taints('a')), own(FORBIDDEN, taints('a')), undefined],
  ['is deleted', own(), undefined, undefined],
  ['gets labels beside those of others', own(FORBIDDEN), own({ ...FORBIDDEN, ...ALLOWED }), undefined],
  ['loses labels beside those of others', own({ ...FORBIDDEN, ...ALLOWED }), own(FORBIDDEN), undefined],
  ['gets labels of others', own(), own(FORBIDDEN), `is not allowed to modify labels: ${LIST}`],
  ['loses labels of others', own(FORBIDDEN), own(), `is not allowed to modify labels: ${LIST}`],
  ['gets taints', own(), own({}, taints('a')), TAINTS],
  ['loses taints', own({}, taints('a')), own(), TAINTS],
  ['gets other taints', own({}, taints('a')), own({}, taints('b')), TAINTS],
  ['gets a configuration', own(), own({}, config('a')), CONFIG],
  ['gets another configuration', own({}, config('a')), own({}, config('b')), CONFIG],
  ['loses its configuration', own({}, config('a')), own(), undefined],
  ['gets an owner', own(), owned, OWNERS],
  ['loses its owner', owned, own(), OWNERS],
])('a node itself %s', async (_, old, object, why) => {
  const operation = old === undefined ? 'CREATE' : object === undefined ? 'DELETE' : 'UPDATE';
  expect(await refused('nodes', { operation, old, object })).toBe(why);
});

test.each(['CREATE', 'UPDATE', 'DELETE'] as const)('%s of another node is refused', async (operation) => {
  const other = toObject({ metadata: { name: 'other' } });
  const [object, old] = [
    operation === 'DELETE' ? undefined : other,
    operation === 'CREATE' ? undefined : other,
  ];
  expect(await refused('nodes', { operation, object, old })).toBe(
    'node "mine" is not allowed to modify node "other"',
  );
});

const token = (boundObjectRef: JsonObject) => toObject({ metadata: { name: '' }, spec: { boundObjectRef } });
const bound = (name: string, uid = `${name}-uid`) => token({ apiVersion: 'v1', kind: 'Pod', name, uid });

test.each([
  ['no pod', token({}), 'node requested token not bound to a pod'],
  [
    'a secret',
    token({ apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'u' }),
    'node requested token not bound to a pod',
  ],
  ['a pod without uid', bound('own', ''), 'node requested token with a pod binding without a uid'],
  ['no such pod', bound('none'), 'pod "none" not found'],
  [
    'another pod of the name',
    bound('own', 'x'),
    'the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
  ],
  ['a pod elsewhere', bound('foreign'), 'node requested token bound to a pod scheduled on a different node'],
  ['a pod of the node', bound('own'), undefined],
])('a token bound to %s', async (_, object, why) => {
  const name = 'account';
  const namespace = 'default';
  expect(await refused('serviceaccounts', { subresource: 'token', object, name, namespace })).toBe(why);
});

const NAMED = 'can only access node lease with the same name as the requesting node';
test.each([
  ['mine', 'kube-node-lease', undefined],
  ['mine', 'default', 'can only access leases in the "kube-node-lease" system namespace'],
  ['other', 'kube-node-lease', NAMED],
])('lease %s in %s', async (name, namespace, why) => {
  const lease = toObject({ metadata: { name, namespace } });
  const LEASES = 'coordination.k8s.io/leases';
  expect(await refused(LEASES, { object: lease })).toBe(why);
  expect(await refused(LEASES, { operation: 'UPDATE', object: lease, old: lease })).toBe(why);
  expect(await refused(LEASES, { operation: 'DELETE', old: lease })).toBe(why);
});

test.each([
  ['mine', undefined],
  ['other', 'can only access CSINode with the same name as the requesting node'],
])('the drivers of node %s', async (name, why) => {
  const drivers = toObject({ metadata: { name } });
  expect(await refused('storage.k8s.io/csinodes', { object: drivers })).toBe(why);
  expect(await refused('storage.k8s.io/csinodes', { operation: 'DELETE', old: drivers })).toBe(why);
});

test('a node makes and deletes the slices of its own devices', async () => {
  const SLICES = 'resource.k8s.io/resourceslices';
  const slice = (nodeName: string) => toObject({ spec: { nodeName } });
  const end = 'ResourceSlice with the same NodeName as the requesting node';
  expect(await refused(SLICES, { object: slice('mine') })).toBeUndefined();
  expect(await refused(SLICES, { object: slice('other') })).toBe(`can only create ${end}`);
  expect(await refused(SLICES, { operation: 'DELETE', old: slice('other') })).toBe(`can only delete ${end}`);
  const change = { operation: 'UPDATE', object: slice('other'), old: slice('other') } as const;
  expect(await refused(SLICES, change)).toBeUndefined();
});

test('a node asks for certificates of its own name', async () => {
  const ask = async (name: string, signerName: string) => {
    const object = toObject({ spec: { signerName, request: await makeRequest(`${name}, O=system:nodes`) } });
    return refused('certificates.k8s.io/certificatesigningrequests', { object });
  };
  for (const signer of ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet']) {
    expect(await ask('system:node:mine', signer)).toBeUndefined();
    expect(await ask('system:node:other', signer)).toBe(
      'can only create a node CSR with CN=system:node:mine',
    );
  }
  expect(await ask('jane', 'kubernetes.io/kube-apiserver-client')).toBeUndefined();
  // The request is the first block; controllers that validate and sign it read the same one.
  const pemOf = async (name: string) => Buffer.from(await makeRequest(name), 'base64').toString();
  const [own, foreign] = [await pemOf('system:node:mine'), await pemOf('system:node:other')];
  const askWith = (pem: string) => {
    const spec = {
      signerName: 'kubernetes.io/kubelet-serving',
      request: Buffer.from(pem).toString('base64'),
    };
    return refused('certificates.k8s.io/certificatesigningrequests', { object: toObject({ spec }) });
  };
  expect(await askWith(own + foreign)).toBeUndefined();
  const spaced = foreign.replace(/\nM/, '\n M');
  for (const pem of [foreign + own, spaced + own])
    expect(await askWith(pem)).toBe('can only create a node CSR with CN=system:node:mine');
  const signerName = 'kubernetes.io/kubelet-serving';
  const object = toObject({ spec: { signerName, request: Buffer.from('x').toString('base64') } });
  expect(await refused('certificates.k8s.io/certificatesigningrequests', { object })).toBe(
    'unable to parse csr: PEM block type must be CERTIFICATE REQUEST',
  );
});

const claim = (status: JsonObject, spec: JsonObject = { volumeName: 'v' }, resourceVersion = '1') =>
  toObject({ metadata: { name: 'c', resourceVersion }, spec, status });
const OTHER_FIELDS =
  'node "mine" is not allowed to update fields other than status.quantity and status.conditions';

test('a node may write the size and conditions of a claim, and with the gate its allocation', async () => {
  const update = (object: ReturnType<typeof claim>, gate = false, subresource = 'status') =>
    refused(
      'persistentvolumeclaims',
      {
        operation: 'UPDATE',
        subresource,
        object,
        old: claim({ phase: 'Bound', capacity: { storage: '1Gi' } }),
      },
      gate,
    );
  const grown = { phase: 'Bound', capacity: { storage: '2Gi' }, conditions: [{ type: 'Resizing' }] };
  const allocated = { ...grown, allocatedResources: { storage: '2Gi' } };
  expect(await update(claim(grown, undefined, '2'))).toBeUndefined();
  expect(await update(claim(grown), false, '')).toBe('may only update PVC status');
  expect(await update(claim({ ...grown, phase: 'Lost' }))).toBe(`${OTHER_FIELDS}: status.phase`);
  expect(await update(claim(grown, { volumeName: 'w' }))).toBe(`${OTHER_FIELDS}: spec.volumeName`);
  expect(await update(claim(allocated))).toBe(`${OTHER_FIELDS}: status.allocatedResources`);
  expect(await update(claim(allocated), true)).toBeUndefined();
});

test('other users and resources that nodes do not share are not restricted', async () => {
  const jane = { username: 'jane', uid: '', groups: ['system:nodes'], extra: {} };
  const impostor = { ...node, groups: [] };
  for (const user of [jane, impostor])
    expect(
      await refused('nodes', { user, object: toObject({ metadata: { name: 'other' } }) }),
    ).toBeUndefined();
  expect(await refused('configmaps', { object: toObject({}) })).toBeUndefined();
  const nameless = { ...node, username: 'system:node:' };
  expect(await refused('configmaps', { user: nameless, object: toObject({}) })).toBe(
    'could not determine node from user "system:node:"',
  );
});

test('what a node sends to a status counts, not only what the status takes of it', async () => {
  const before = toObject({ metadata: { name: 'mine' }, spec: {} });
  const sent = toObject({
    metadata: { name: 'mine' },
    spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] },
  });
  const write = {
    operation: 'UPDATE',
    subresource: 'status',
    name: 'mine',
    object: before,
    old: before,
  } as const;
  expect(await refused('nodes', write)).toBeUndefined();
  expect(await refused('nodes', { ...write, sent })).toBe('node "mine" is not allowed to modify taints');
  const claim = toObject({ spec: { volumeName: 'v' } });
  const other = toObject({ spec: { volumeName: 'w' } });
  const claims = { ...write, object: claim, old: claim };
  expect(await refused('persistentvolumeclaims', claims)).toBeUndefined();
  expect(await refused('persistentvolumeclaims', { ...claims, sent: other })).toContain('spec.volumeName');
});
