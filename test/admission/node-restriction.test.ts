import { expect, test } from 'vitest';
import type { AdmissionAttributes } from '../../src/admission/admission.ts';
import type { Access } from '../../src/admission/plugin.ts';
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
/** The right to any audience in one namespace. */
const access: Access = {
  whyNot: async (_, { verb, resource, namespace, name }) =>
    verb === 'request-serviceaccounts-token-audience' &&
    namespace === 'free' &&
    resource !== '' &&
    name !== ''
      ? undefined
      : 'no rule',
};
const plugin = (gate: string) =>
  createNodeRestriction({ objects, access, nodeOf: nodeNameOf, isFeatureOn: (name) => name === gate });

/** Without what all refusals begin with. */
async function refused(
  resource: string,
  attributes: Partial<AdmissionAttributes>,
  gate = '',
): Promise<string | undefined> {
  const write = attributesOf(resource, { user: node, ...attributes });
  return (await refusalOf(plugin(gate), write))?.replace(/^.*? is forbidden: /, '');
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
  ['a claim for devices', { resourceClaims: [{ name: 'd' }] }, [owner], `${REFERENCE} resourceclaims`],
  [
    'a volume made for it',
    { volumes: [{ ephemeral: {} }] },
    [owner],
    `${REFERENCE} persistentvolumeclaims (via ephemeral volumes)`,
  ],
  ['a driver', { volumes: [{ csi: { driver: 'd' } }] }, [owner], `${REFERENCE} csidrivers (via CSI volumes)`],
  [
    'endpoints',
    { volumes: [{ glusterfs: { endpoints: 'e', path: 'p' } }] },
    [owner],
    `${REFERENCE} endpoints (via glusterFS volumes)`,
  ],
  [
    'a token',
    {
      volumes: [
        { emptyDir: {} },
        { projected: { sources: [{ downwardAPI: {} }, { serviceAccountToken: { path: 't' } }] } },
      ],
    },
    [owner],
    `${REFERENCE} serviceaccounts (via projected volumes)`,
  ],
  ['a directory', { volumes: [{ hostPath: { path: '/' } }, { emptyDir: {} }] }, [owner], undefined],
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

const volumes = (nodeName: string, ...list: JsonObject[]): JsonObject => ({ nodeName, volumes: list });
const audienced = (...audiences: string[]): JsonObject => ({ audiences });
const claimOf = (claimName: string): JsonObject => ({ name: 'v', persistentVolumeClaim: { claimName } });
const inNamespace = (name: string, namespace: string, rest: JsonObject): JsonObject => ({
  metadata: { name, namespace, uid: `${name}-uid` },
  ...rest,
});
const volume = (name: string, source: JsonObject): JsonObject => ({ metadata: { name }, spec: source });
const wanting = new FakeCluster({
  pods: [
    inNamespace('plain', 'free', { spec: volumes('mine') }),
    inNamespace('plain', 'default', { spec: volumes('mine') }),
    inNamespace('projected', 'default', {
      spec: volumes('mine', {
        projected: { sources: [{ serviceAccountToken: { audience: 'vault', path: 't' } }] },
      }),
    }),
    inNamespace('api', 'default', {
      spec: volumes('mine', { projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }),
    }),
    inNamespace('inline', 'default', { spec: volumes('mine', { csi: { driver: 'signed' } }) }),
    inNamespace('claiming', 'default', { spec: volumes('mine', claimOf('bound')) }),
    inNamespace('made', 'default', {
      spec: volumes('mine', { name: 'bound', ephemeral: { volumeClaimTemplate: {} } }),
    }),
    inNamespace('moved', 'default', { spec: volumes('mine', { awsElasticBlockStore: { volumeID: 'v' } }) }),
    inNamespace('unbound', 'default', {
      spec: volumes('mine', claimOf('none'), { csi: { driver: 'gone' } }),
    }),
  ],
  persistentvolumeclaims: [
    inNamespace('bound', 'default', { spec: { volumeName: 'pv' } }),
    inNamespace('made-bound', 'default', { spec: { volumeName: 'old' } }),
  ],
  persistentvolumes: [
    volume('pv', { csi: { driver: 'signed' } }),
    volume('old', { awsElasticBlockStore: { volumeID: 'v' } }),
  ],
  csidrivers: [
    volume('signed', { tokenRequests: [{ audience: 'signer' }, { audience: '' }] }),
    volume('ebs.csi.aws.com', { tokenRequests: [{ audience: 'cloud' }] }),
  ],
});

test.each<[string, JsonObject, string | undefined, string?]>([
  ['projected', audienced('vault'), undefined],
  ['projected', audienced('other'), 'not found'],
  ['projected', audienced(), 'not found'],
  ['projected', audienced('vault', 'other'), 'node may only request 0 or 1 audiences'],
  ['api', {}, undefined],
  ['api', audienced('vault'), 'not found'],
  ['inline', audienced('signer'), undefined],
  ['inline', {}, undefined],
  ['claiming', audienced('signer'), undefined],
  ['claiming', audienced('cloud'), 'not found'],
  ['made', audienced('cloud'), undefined],
  ['moved', audienced('cloud'), undefined],
  [
    'unbound',
    audienced('cloud'),
    'error validating audience "cloud": [persistentvolumeclaim "none" not found, csidriver.storage.k8s.io "gone" not found]',
  ],
  ['plain', audienced('vault'), 'not found'],
  ['plain', audienced('vault'), undefined, 'free'],
])('a token of pod %s for %j: %s', async (name, spec, why, namespace = 'default') => {
  const restriction = createNodeRestriction({
    ...{ objects: wanting, access, nodeOf: nodeNameOf },
    isFeatureOn: (gate) => gate === 'ServiceAccountNodeAudienceRestriction',
  });
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid: `${name}-uid` };
  const object = toObject({ spec: { ...spec, boundObjectRef } });
  const write = { user: node, subresource: 'token', object, name: 'account', namespace } as const;
  const answer = await refusalOf(restriction, attributesOf('serviceaccounts', write));
  const [audience = ''] = (spec.audiences ?? []) as string[];
  const missing = `audience ${JSON.stringify(audience)} not found in pod spec volume, system:node:mine is not authorized to request tokens for this audience`;
  expect(answer?.replace(/^.*? is forbidden: /, '')).toBe(why === 'not found' ? missing : why);
  // Without the feature, any audience will do.
  const free = createNodeRestriction({
    objects: wanting,
    access,
    nodeOf: nodeNameOf,
    isFeatureOn: () => false,
  });
  expect(await refusalOf(free, attributesOf('serviceaccounts', write))).toBeUndefined();
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
  const gate = 'AllowInsecureAgentCertificateSigningRequests';
  expect(await refused('certificates.k8s.io/certificatesigningrequests', { object }, gate)).toBeUndefined();
});

const claim = (status: JsonObject, spec: JsonObject = { volumeName: 'v' }, resourceVersion = '1') =>
  toObject({ metadata: { name: 'c', resourceVersion }, spec, status });
const OTHER_FIELDS =
  'node "mine" is not allowed to update fields other than status.quantity and status.conditions';

test('a node may write the size and conditions of a claim, and with the gate its allocation', async () => {
  const update = (object: ReturnType<typeof claim>, gate = '', subresource = 'status') =>
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
  expect(await update(claim(grown), '', '')).toBe('may only update PVC status');
  expect(await update(claim({ ...grown, phase: 'Lost' }))).toBe(`${OTHER_FIELDS}: status.phase`);
  expect(await update(claim(grown, { volumeName: 'w' }))).toBe(`${OTHER_FIELDS}: spec.volumeName`);
  expect(await update(claim(allocated))).toBe(`${OTHER_FIELDS}: status.allocatedResources`);
  expect(await update(claim(allocated), 'RecoverVolumeExpansionFailure')).toBeUndefined();
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
