import { beforeEach, describe, expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { Verdict } from '../../src/authz/authorizer.ts';
import { createNodeAuthorizer } from '../../src/authz/node-authorizer.ts';
import { NodeGraph } from '../../src/authz/node-graph.ts';
import { nodeRules } from '../../src/authz/rbac/bootstrap/bootstrap-policy.ts';
import { parseFeatureGates } from '../../src/options/feature-gates.ts';
import type { Followed } from '../../src/storage/follower.ts';
import { asks, asksPath, entry, happens, user } from './kit.ts';

let graph: NodeGraph;
let node: ReturnType<typeof createNodeAuthorizer>;
const n1 = user('system:node:n1', 'system:nodes');
const SHOP = { namespace: 'shop' };

beforeEach(() => {
  graph = new NodeGraph();
  node = authorizerWith();
});

/** On the relations of `graph`. */
function authorizerWith(...features: string[]): ReturnType<typeof createNodeAuthorizer> {
  const isFeatureOn = (name: string): boolean => features.includes(name);
  return createNodeAuthorizer(graph, nodeRules(isFeatureOn), isFeatureOn);
}

function index(resource: string): Followed {
  const source = graph.sources.find((candidate) => candidate.resource.resource === resource);
  if (source === undefined) throw new Error(`nothing follows ${resource}`);
  return source.index;
}

const pod = (name: string, nodeName: string, spec: object = {}, more: object = {}) => ({
  metadata: { name, namespace: 'shop', uid: name, ...more },
  spec: { nodeName, ...spec },
});
const secretVolume = (secretName: string) => ({ volumes: [{ name: 'v', secret: { secretName } }] });
const decide = (...question: Parameters<typeof asks>) => node.authorize(asks(...question)) as Verdict;
const readable = (kind: string, name: string, who = n1) =>
  decide(who, 'get', kind, { ...SHOP, name }).decision === 'allow';

describe('what a pod refers to', () => {
  const references: [string, string, object][] = [
    ['a pull secret', 'secrets', { imagePullSecrets: [{ name: 'x' }] }],
    ['a secret volume', 'secrets', secretVolume('x')],
    ['a projected secret', 'secrets', { volumes: [{ projected: { sources: [{ secret: { name: 'x' } }] } }] }],
    [
      'the secret of a CSI volume',
      'secrets',
      { volumes: [{ csi: { nodePublishSecretRef: { name: 'x' } } }] },
    ],
    [
      'a secret in a variable',
      'secrets',
      { initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'x' } } }] }] },
    ],
    [
      'a secret as variables',
      'secrets',
      { ephemeralContainers: [{ envFrom: [{ secretRef: { name: 'x' } }] }] },
    ],
    ['a config map volume', 'configmaps', { volumes: [{ configMap: { name: 'x' } }] }],
    [
      'a projected config map',
      'configmaps',
      { volumes: [{ projected: { sources: [{ configMap: { name: 'x' } }] } }] },
    ],
    [
      'a config map as variables',
      'configmaps',
      { containers: [{ envFrom: [{ configMapRef: { name: 'x' } }] }] },
    ],
    [
      'a config map in a variable',
      'configmaps',
      { containers: [{ env: [{ valueFrom: { configMapKeyRef: { name: 'x' } } }] }] },
    ],
    ['a claim', 'persistentvolumeclaims', { volumes: [{ persistentVolumeClaim: { claimName: 'x' } }] }],
    [
      'a resource claim',
      'resourceclaims.resource.k8s.io',
      { resourceClaims: [{ name: 'r', resourceClaimName: 'x' }] },
    ],
  ];
  test.each(references)('%s is readable on its node alone', (_, resource, spec) => {
    index('pods').replace([entry(pod('web', 'n1', spec))]);
    expect(readable(resource, 'x')).toBe(true);
    expect(readable(resource, 'y')).toBe(false);
    expect(readable(resource, 'x', user('system:node:n2', 'system:nodes'))).toBe(false);
    expect(decide(n1, 'get', resource, { namespace: 'bank', name: 'x' }).decision).toBe('no-opinion');
  });

  test('is readable until the last pod is gone', () => {
    index('pods').replace(['a', 'b'].map((name) => entry(pod(name, 'n1', secretVolume('x')))));
    happens(index('pods'), 'DELETED', pod('a', 'n1'));
    expect(readable('secrets', 'x')).toBe(true);
    happens(index('pods'), 'DELETED', pod('b', 'n1'));
    expect(decide(n1, 'get', 'secrets', { ...SHOP, name: 'x' }).reason).toBe(
      "no relationship found between node 'n1' and this object",
    );
  });

  test('is readable from when the pod is bound', () => {
    happens(index('pods'), 'ADDED', pod('web', '', secretVolume('x')));
    expect(readable('secrets', 'x')).toBe(false);
    happens(index('pods'), 'MODIFIED', pod('web', 'n1', secretVolume('x')));
    expect(readable('secrets', 'x')).toBe(true);
  });

  test('follows another pod of the same name', () => {
    index('pods').replace([entry(pod('web', 'n1', secretVolume('x')))]);
    happens(index('pods'), 'MODIFIED', pod('web', 'n1', secretVolume('y'), { uid: 'other' }));
    expect([readable('secrets', 'x'), readable('secrets', 'y')]).toEqual([false, true]);
  });

  test('gives nothing when the pod is a mirror of what the node runs', () => {
    const annotations = { 'kubernetes.io/config.mirror': 'hash' };
    index('pods').replace([entry(pod('web', 'n1', secretVolume('x'), { annotations }))]);
    expect(readable('secrets', 'x')).toBe(false);
  });

  test('includes the claims made for the pod', () => {
    const spec = {
      volumes: [{ name: 'scratch', ephemeral: {} }],
      resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 't' }],
    };
    index('pods').replace([entry(pod('web', 'n1', spec))]);
    expect(readable('persistentvolumeclaims', 'web-scratch')).toBe(true);
    expect(readable('resourceclaims.resource.k8s.io', 'web-gpu-1')).toBe(false);
    const status = { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'web-gpu-1' }] };
    happens(index('pods'), 'MODIFIED', { ...pod('web', 'n1', spec), status });
    expect(readable('resourceclaims.resource.k8s.io', 'web-gpu-1')).toBe(true);
  });

  test('includes the claim for what devices stand for', () => {
    const status = { extendedResourceClaimStatus: { resourceClaimName: 'web-extended' } };
    index('pods').replace([entry({ ...pod('web', 'n1', {}), status })]);
    expect(readable('resourceclaims.resource.k8s.io', 'web-extended')).toBe(true);
    expect(readable('resourceclaims.resource.k8s.io', 'other')).toBe(false);
  });
});

describe('persistent volumes', () => {
  const volume = (spec: object) => ({
    metadata: { name: 'pv' },
    spec: { claimRef: { namespace: 'shop', name: 'data' }, ...spec },
  });
  const get = (resource: string, name: string, namespace = '') =>
    decide(n1, 'get', resource, { name, namespace }).decision === 'allow';

  beforeEach(() => {
    const volumes = [{ persistentVolumeClaim: { claimName: 'data' } }];
    index('pods').replace([entry(pod('web', 'n1', { volumes }))]);
  });

  test('are readable where their claim is used, and so are the secrets the node mounts them with', () => {
    const csi = {
      nodeStageSecretRef: { namespace: 'vault', name: 'stage' },
      controllerPublishSecretRef: { namespace: 'vault', name: 'control' },
    };
    index('persistentvolumes').replace([entry(volume({ csi }))]);
    expect(get('persistentvolumes', 'pv')).toBe(true);
    expect(get('secrets', 'stage', 'vault')).toBe(true);
    expect(get('secrets', 'control', 'vault')).toBe(false);
    happens(index('persistentvolumes'), 'DELETED', volume({ csi }));
    expect([get('persistentvolumes', 'pv'), get('secrets', 'stage', 'vault')]).toEqual([false, false]);
  });

  test('have their secret in the namespace of the claim where they do not say', () => {
    index('persistentvolumes').replace([entry(volume({ rbd: { secretRef: { name: 'ceph' } } }))]);
    expect(get('secrets', 'ceph', 'shop')).toBe(true);
    happens(
      index('persistentvolumes'),
      'MODIFIED',
      volume({ azureFile: { secretName: 'az', secretNamespace: 'a' } }),
    );
    expect([get('secrets', 'ceph', 'shop'), get('secrets', 'az', 'a')]).toEqual([false, true]);
  });

  test('of another claim, or none, are not readable', () => {
    index('persistentvolumes').replace([entry({ metadata: { name: 'pv' }, spec: {} })]);
    expect(get('persistentvolumes', 'pv')).toBe(false);
    happens(
      index('persistentvolumes'),
      'MODIFIED',
      volume({ claimRef: { namespace: 'shop', name: 'other' } }),
    );
    expect(get('persistentvolumes', 'pv')).toBe(false);
  });
});

test('attachments and slices are readable on their node', () => {
  const of = (name: string, nodeName: string) => ({ metadata: { name }, spec: { nodeName } });
  index('volumeattachments').replace([entry(of('a', 'n1')), entry(of('b', 'n2'))]);
  index('resourceslices').replace([entry(of('s', 'n1'))]);
  const get = (resource: string, name: string) => decide(n1, 'get', resource, { name }).decision === 'allow';
  expect([
    get('volumeattachments.storage.k8s.io', 'a'),
    get('volumeattachments.storage.k8s.io', 'b'),
  ]).toEqual([true, false]);
  expect(get('resourceslices.resource.k8s.io', 's')).toBe(true);
  index('volumeattachments').replace([]);
  expect([get('volumeattachments.storage.k8s.io', 'a'), get('resourceslices.resource.k8s.io', 's')]).toEqual([
    false,
    true,
  ]);
});

describe('a node', () => {
  const refused: [string, string, object, string][] = [
    ['create', 'secrets', { ...SHOP, name: 'x' }, 'can only read resources of this type'],
    ['list', 'secrets', SHOP, 'No Object name found'],
    ['list', 'configmaps', {}, 'can only read namespaced object of this type'],
    ['list', 'persistentvolumes', {}, 'can only get individual resources of this type'],
    ['get', 'persistentvolumeclaims/other', SHOP, 'cannot get subresource'],
    ['get', 'persistentvolumeclaims/status', SHOP, 'can only get/update/patch this type'],
    ['create', 'serviceaccounts/token', SHOP, 'can only create tokens for individual service accounts'],
    [
      'create',
      'serviceaccounts',
      { ...SHOP, name: 'x' },
      'can only create token subresource of serviceaccount',
    ],
    ['list', 'leases.coordination.k8s.io', {}, 'can only get, create, update, patch, or delete a node lease'],
    [
      'get',
      'leases.coordination.k8s.io',
      { ...SHOP, name: 'n1' },
      'can only access leases in the "kube-node-lease" system namespace',
    ],
    [
      'get',
      'leases.coordination.k8s.io',
      { namespace: 'kube-node-lease', name: 'n2' },
      'can only access node lease with the same name as the requesting node',
    ],
    [
      'delete',
      'csinodes.storage.k8s.io',
      { name: 'n2' },
      'can only access CSINode with the same name as the requesting node',
    ],
    ['delete', 'pods/eviction', SHOP, ''],
    ['delete', 'nodes', { name: 'n1' }, ''],
  ];
  test.each(refused)('may not %s %s %o', (verb, what, where, reason) => {
    expect(decide(n1, verb, what, where)).toEqual({ decision: 'no-opinion', reason });
  });

  const allowed: [string, string, object][] = [
    ['update', 'leases.coordination.k8s.io', { namespace: 'kube-node-lease', name: 'n1' }],
    ['create', 'leases.coordination.k8s.io', { namespace: 'kube-node-lease' }],
    ['create', 'csinodes.storage.k8s.io', {}],
    ['list', 'resourceslices.resource.k8s.io', {}],
    ['watch', 'pods', {}],
    ['patch', 'nodes/status', { name: 'n1' }],
    ['create', 'events', SHOP],
  ];
  test.each(allowed)('may %s %s %o', (verb, what, where) => {
    expect(decide(n1, verb, what, where).decision).toBe('allow');
  });

  test('may make tokens for the service accounts of its pods and update the status of their claims', () => {
    const volumes = [{ persistentVolumeClaim: { claimName: 'data' } }];
    index('pods').replace([entry(pod('web', 'n1', { serviceAccountName: 'robot', volumes }))]);
    const may = (...question: Parameters<typeof asks>) => decide(...question).decision === 'allow';
    expect(may(n1, 'create', 'serviceaccounts/token', { ...SHOP, name: 'robot' })).toBe(true);
    expect(may(n1, 'create', 'serviceaccounts/token', { ...SHOP, name: 'other' })).toBe(false);
    expect(may(n1, 'patch', 'persistentvolumeclaims/status', { ...SHOP, name: 'data' })).toBe(true);
  });

  test.each<[gates: string[], minor: Minor, isAllowed: boolean, reason: string]>([
    [[], 32, false, 'can only create tokens for individual service accounts'],
    [[], 33, false, 'not allowed to get service accounts'],
    [['KubeletServiceAccountTokenForCredentialProviders=true'], 33, true, ''],
    [[], 34, true, ''],
    [
      ['KubeletServiceAccountTokenForCredentialProviders=false'],
      35,
      false,
      'not allowed to get service accounts',
    ],
    [['KubeletServiceAccountTokenForCredentialProviders=false', 'PodCertificateRequest=true'], 35, true, ''],
    [[], 36, true, ''],
  ])('may read the service accounts of its pods with %o in 1.%i: %s', (gates, minor, isAllowed, reason) => {
    const { isEnabled } = parseFeatureGates(gates, '--feature-gates', minor);
    node = createNodeAuthorizer(graph, nodeRules(isEnabled), isEnabled);
    index('pods').replace([entry(pod('web', 'n1', { serviceAccountName: 'robot' }))]);
    const get = (name: string) => decide(n1, 'get', 'serviceaccounts', { ...SHOP, name });
    expect(get('robot')).toMatchObject({
      decision: isAllowed ? 'allow' : 'no-opinion',
      ...(reason && { reason }),
    });
    expect(get('other').decision).toBe('no-opinion');
    expect(decide(n1, 'create', 'serviceaccounts/token', { ...SHOP, name: 'robot' }).decision).toBe('allow');
  });

  test('asks for certificates of its pods where both features are on', () => {
    const both = ['AuthorizeNodeWithSelectors', 'PodCertificateRequest'];
    const question = asks(n1, 'create', 'podcertificaterequests.certificates.k8s.io', SHOP);
    const decisions = [both, both.slice(0, 1), both.slice(1)].map(
      (features) => (authorizerWith(...features).authorize(question) as Verdict).decision,
    );
    expect(decisions).toEqual(['allow', 'no-opinion', 'no-opinion']);
    const certificates = 'podcertificaterequests.certificates.k8s.io';
    const authorizer = authorizerWith(...both);
    const refusals = [
      asks(n1, 'delete', certificates, { ...SHOP, name: 'x' }),
      asks(n1, 'update', `${certificates}/status`, { ...SHOP, name: 'x' }),
      asks(n1, 'list', certificates, SHOP),
    ].map((asked) => (authorizer.authorize(asked) as Verdict).reason);
    expect(refusals).toEqual([
      'nodes may not delete podcertificaterequests',
      'nodes may not access the status subresource of PodCertificateRequests',
      'can only list/watch podcertificaterequests with nodeName field selector',
    ]);
  });

  test('is a user in system:nodes with the name of a node; the authorizer has no opinion about others', () => {
    expect(decide(user('system:node:n1'), 'watch', 'pods')).toEqual({ decision: 'no-opinion', reason: '' });
    expect(decide(user('ann', 'system:nodes'), 'watch', 'pods')).toEqual({
      decision: 'no-opinion',
      reason: '',
    });
    expect(decide(user('system:node:', 'system:nodes'), 'watch', 'pods').reason).toBe(
      'unknown node for user "system:node:"',
    );
    expect((node.authorize(asksPath(n1, 'get', '/metrics')) as Verdict).decision).toBe('no-opinion');
  });

  test('a rules review says that its rules are not listed', () => {
    expect(node.rules(n1)).toMatchObject({ incomplete: true });
    expect(node.rules(user('ann')).incomplete).toBeUndefined();
  });
});
