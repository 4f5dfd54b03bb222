import { expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import { type Gates, gatesOf } from '../../src/api/feature-gates.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { deployments } from '../../src/resources/apps/deployment.ts';
import { statefulsets } from '../../src/resources/apps/stateful-set.ts';
import { endpoints } from '../../src/resources/core/endpoints.ts';
import { nodes } from '../../src/resources/core/node.ts';
import { resourcequotas } from '../../src/resources/core/resource-quota.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { serviceaccounts } from '../../src/resources/core/service-account.ts';
import { resourceslices } from '../../src/resources/devices/resource-slice.ts';
import { endpointslices } from '../../src/resources/discovery/endpoint-slice.ts';
import { ingresses } from '../../src/resources/networking/ingress.ts';
import { networkpolicies } from '../../src/resources/networking/network-policy.ts';
import { runtimeclasses } from '../../src/resources/node/runtime-class.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { csidrivers } from '../../src/resources/storage/csi-driver.ts';
import { type Change, rulesOf } from '../../src/verbs/writing/change.ts';
import { manifestsIn } from '../kit/manifests.ts';

/** Warnings that a version of Kubernetes added. Those of all versions are tested beside their resources. */

function warningsIn(
  minor: Minor,
  definition: ResourceDefinition,
  manifest: JsonObject,
  old?: JsonObject,
  on: readonly string[] = [],
): string[] {
  const isOn: Gates = Object.assign(
    (name: string) => on.includes(name) || (gatesOf(minor).get(name)?.on ?? false),
    { minor },
  );
  const { created, updated } = manifestsIn(minor, Object.fromEntries(on.map((gate) => [gate, true])));
  const before = old === undefined ? undefined : created(definition, old);
  const object = old === undefined ? created(definition, manifest) : updated(definition, old, manifest);
  return definition.strategy.warnings?.(object, before, isOn) ?? [];
}

const previous = (minor: Minor): Minor => MINORS[MINORS.indexOf(minor) - 1] ?? 31;

const container = { name: 'c', image: 'i' };
const labels = { app: 'web' };
const pod = (spec: JsonObject): JsonObject => ({
  metadata: { labels },
  spec: { containers: [container], ...spec },
});
const volume = (source: JsonObject): JsonObject => pod({ volumes: [{ name: 'v', ...source }] });
const service = (spec: JsonObject): JsonObject => ({ spec: { ports: [{ port: 80 }], ...spec } });
const headless = (spec: JsonObject): JsonObject => service({ clusterIP: 'None', ...spec });
const key = (path: string): JsonObject => ({ key: 'k', path });
const preferring = (value: string): JsonObject => ({
  nodeAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      { weight: 1, preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: [value] }] } },
    ],
  },
});
const FUTURE = 'will be considered invalid in a future Kubernetes release';

test.each<[string, Minor, ResourceDefinition, JsonObject, string[]]>([
  [
    'files of a config map that hide each other',
    32,
    pods,
    volume({ configMap: { name: 'm', items: [key('a'), key('b'), key('a/b'), key('ab')] } }),
    ['volume "v" (ConfigMap "m"): overlapping paths: "a/b" with "a"'],
  ],
  [
    'files of a secret that are one',
    32,
    pods,
    volume({ secret: { secretName: 's', items: [key('a'), key('a/')] } }),
    ['volume "v" (Secret "s"): overlapping paths: "a" with "a"'],
  ],
  [
    'files of the downward API that hide each other',
    32,
    pods,
    volume({
      downwardAPI: {
        items: ['a/b', 'a'].map((path) => ({ path, fieldRef: { fieldPath: 'metadata.name' } })),
      },
    }),
    ['volume "v" (DownwardAPI): overlapping paths: "a" with "a/b"'],
  ],
  [
    'files of several sources that hide each other',
    32,
    pods,
    volume({
      projected: {
        sources: [
          { configMap: { name: 'm', items: [key('t')] } },
          { secret: { name: 's', items: [key('s')] } },
          { serviceAccountToken: { path: 't/token' } },
        ],
      },
    }),
    ['volume "v" (Projected): overlapping paths: "t/token" (ServiceAccountToken) with "t" (ConfigMap "m")'],
  ],
  [
    'names of ports that are there twice',
    33,
    pods,
    pod({
      containers: [
        { ...container, ports: [{ name: 'web', containerPort: 80 }] },
        { name: 'd', image: 'i', ports: [{ name: 'web', containerPort: 81 }] },
      ],
    }),
    [
      'spec.containers[1].ports[0]: duplicate port name "web" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
    ],
  ],
  [
    'preferred values that no label has',
    33,
    pods,
    pod({ affinity: preferring('a_') }),
    [
      `spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]: a_ is invalid, a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ],
  ],
  [
    'name servers and aliases with leading zeros',
    33,
    pods,
    pod({
      dnsConfig: { nameservers: ['010.0.0.1'] },
      hostAliases: [{ ip: '2001:DB8::1', hostnames: ['h'] }],
    }),
    [
      `spec.dnsConfig.nameservers[0]: non-standard IP address "010.0.0.1" ${FUTURE}: use "10.0.0.1"`,
      'spec.hostAliases[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ],
  ],
  [
    'ranges of peers that are no networks',
    33,
    networkpolicies,
    {
      spec: {
        podSelector: {},
        ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.2.3/16'] } }] }],
        egress: [
          { to: [{ ipBlock: { cidr: '2001:DB8::/32' } }, { ipBlock: { cidr: '::ffff:10.0.0.0/104' } }] },
        ],
      },
    },
    [
      'spec.ingress[0].from[0].ipBlock.except[0]: CIDR value "10.1.2.3/16" is ambiguous in this context (should be "10.1.0.0/16" or "10.1.2.3/32"?)',
      'spec.egress[0].to[0].ipBlock.cidr: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")',
      `spec.egress[0].to[1].ipBlock.cidr: non-standard CIDR value "::ffff:10.0.0.0/104" ${FUTURE}: use "10.0.0.0/8"`,
    ],
  ],
  [
    'ranges of a node that are no networks',
    33,
    nodes,
    { spec: { podCIDR: '10.0.0.1/24', podCIDRs: ['10.0.0.1/24'] } },
    [
      'spec.podCIDRs[0]: CIDR value "10.0.0.1/24" is ambiguous in this context (should be "10.0.0.0/24" or "10.0.0.1/32"?)',
    ],
  ],
  [
    'a history without an end',
    33,
    statefulsets,
    {
      spec: {
        revisionHistoryLimit: -1,
        serviceName: 's',
        selector: { matchLabels: labels },
        template: pod({}),
      },
    },
    [
      'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
    ],
  ],
  [
    'endpoints that are spelt in an uncommon way',
    33,
    endpoints,
    { subsets: [{ addresses: [{ ip: '10.0.0.01' }], notReadyAddresses: [{ ip: '2001:DB8::1' }] }] },
    [
      `subsets[0].addresses[0].ip: non-standard IP address "10.0.0.01" ${FUTURE}: use "10.0.0.1"`,
      'subsets[0].notReadyAddresses[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ],
  ],
  [
    'slices of endpoints that are spelt in an uncommon way',
    33,
    endpointslices,
    { addressType: 'IPv6', endpoints: [{ addresses: ['2001:DB8::1'] }] },
    [
      'endpoints[0].addresses[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ],
  ],
  [
    'what a headless service ignores',
    34,
    services,
    headless({ loadBalancerIP: '10.0.0.1', externalIPs: ['10.0.0.2'], sessionAffinity: 'ClientIP' }),
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalIPs is ignored for headless services',
      'spec.SessionAffinity is ignored for headless services',
    ],
  ],
  [
    'a distribution that has a new name',
    35,
    services,
    service({ trafficDistribution: 'PreferClose' }),
    ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'],
  ],
  [
    'external addresses',
    36,
    services,
    service({ externalIPs: ['10.0.0.2'] }),
    ['spec.externalIPs is deprecated and may no longer be implemented in some clusters'],
  ],
  [
    'requests beyond the limits',
    35,
    resourcequotas,
    { spec: { hard: { cpu: '2', 'limits.cpu': '1', 'requests.storage': '1', 'limits.storage': '2' } } },
    ['ResourceQuota cpu (2) should be less than limits.cpu (1)'],
  ],
  [
    'an annotation that is deprecated',
    32,
    serviceaccounts,
    { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } },
    [
      'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets',
    ],
  ],
  [
    'tokens that are logged with attributes',
    35,
    csidrivers,
    { spec: { tokenRequests: [{ audience: 'a' }] } },
    [
      'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
    ],
  ],
  [
    'a driver in capitals',
    35,
    resourceslices,
    { spec: { driver: 'Dra.example.com', nodeName: 'n', pool: { name: 'p', resourceSliceCount: 1 } } },
    ['spec.driver: driver names should be lowercase; "Dra.example.com" contains uppercase characters'],
  ],
])('since some version a caller is warned of %s: 1.%i', (_, since, definition, manifest, texts) => {
  expect(warningsIn(since, definition, manifest)).toEqual(texts);
  expect(warningsIn(previous(since), definition, manifest)).toEqual([]);
});

test('warnings about addresses of services have the words of the version', () => {
  const found = (minor: Minor): string[] =>
    warningsIn(minor, services, service({ type: 'LoadBalancer', loadBalancerIP: '010.0.0.1' }));
  const of33 = `spec.loadBalancerIP: non-standard IP address "010.0.0.1" ${FUTURE}: use "10.0.0.1"`;
  expect(found(32)[0]).toMatch(/^spec.loadBalancerIP: IP address was accepted, but/);
  expect(found(33)).toEqual([of33]);
  expect(found(35)).toEqual([of33]);
  expect(found(36)).toEqual([of33.replace(FUTURE, 'is invalid')]);
});

test('a caller is warned of files of a certificate that hide each other', () => {
  const manifest = volume({
    projected: {
      sources: [
        {
          podCertificate: {
            signerName: 'a/b',
            keyType: 'ED25519',
            keyPath: 'k',
            certificateChainPath: 'k/c',
          },
        },
      ],
    },
  });
  expect(warningsIn(35, pods, manifest, undefined, ['PodCertificateRequest'])).toEqual([
    'volume "v" (Projected): overlapping paths: "k" (PodCertificate key) with "k/c" (PodCertificate chain)',
  ]);
});

test('since 1.34 a caller is warned of an annotation of AppArmor unless the profile of the pod says the same', () => {
  const annotation = 'container.apparmor.security.beta.kubernetes.io/c';
  const found = (minor: Minor, profile: string): number => {
    const template = pod({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } });
    const metadata = { labels, annotations: { [annotation]: profile } };
    const spec = { selector: { matchLabels: labels }, template: { ...template, metadata } };
    return warningsIn(minor, deployments, { spec }).length;
  };
  expect([found(33, 'unconfined'), found(34, 'unconfined'), found(34, 'runtime/default')]).toEqual([0, 1, 0]);
});

test.each<[string, JsonObject, number]>([
  ['unconfined', {}, 1],
  ['nonsense', {}, 1],
  ['unconfined', { securityContext: { appArmorProfile: { type: 'Unconfined' } } }, 0],
  ['unconfined', { os: { name: 'windows' } }, 0],
  [
    'unconfined',
    { containers: [{ ...container, securityContext: { appArmorProfile: { type: 'Unconfined' } } }] },
    0,
  ],
])(
  'a caller is warned of the annotation %s of AppArmor on a pod with %j: %i times',
  (profile, spec, times) => {
    const metadata = {
      ...{ name: 'it', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
      annotations: { 'container.apparmor.security.beta.kubernetes.io/c': profile },
    };
    const sent = { kind: 'Pod', apiVersion: 'v1', metadata, spec: { containers: [container], ...spec } };
    const why =
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead';
    expect(pods.strategy.warningsAsSent?.(sent)).toEqual(Array(times).fill(why));
  },
);

test('objects of controllers bring no warnings, and old annotations no second one', () => {
  const managed = { metadata: { labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' } } };
  const subsets = [{ addresses: [{ ip: '10.0.0.01' }] }];
  expect(warningsIn(33, endpoints, { ...managed, subsets })).toEqual([]);
  const account = { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } };
  expect(warningsIn(32, serviceaccounts, account, account)).toEqual([]);
  const driver = { spec: { tokenRequests: [{ audience: 'a' }] } };
  expect(warningsIn(35, csidrivers, driver, driver)).toEqual([]);
});

test('in every version a caller is warned of labels of nodes that have new names, in a runtime class', () => {
  const manifest = {
    handler: 'h',
    scheduling: { nodeSelector: { 'beta.kubernetes.io/os': 'linux', zone: 'a' } },
  };
  expect(warningsIn(31, runtimeclasses, manifest)).toEqual([
    'scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
});

/** The warnings of a write of the status that makes it `status`. */
function statusWarningsIn(
  minor: Minor,
  definition: ResourceDefinition,
  manifest: JsonObject,
  status: JsonObject,
): string[] {
  const isOn: Gates = Object.assign((name: string) => gatesOf(minor).get(name)?.on ?? false, { minor });
  const old = manifestsIn(minor).created(definition, manifest);
  const view = definition.subresources.find((one) => one.access === 'view' && one.name === 'status');
  if (view?.access !== 'view') throw new Error('no status');
  const change: Change = { kind: 'view', view, apply: (copy) => copy };
  return rulesOf(change, definition.strategy).warnings?.({ ...old, status }, old, isOn) ?? [];
}

const BALANCED = { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '10.0.0.01' }] } };

test.each<[string, ResourceDefinition, JsonObject, JsonObject, string[]]>([
  [
    'pods',
    pods,
    pod({}),
    { podIPs: [{ ip: '10.0.0.01' }], hostIPs: [{ ip: '2001:DB8::1' }] },
    [
      `status.podIPs[0].ip: non-standard IP address "10.0.0.01" ${FUTURE}: use "10.0.0.1"`,
      'status.hostIPs[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
    ],
  ],
  [
    'services',
    services,
    service({}),
    BALANCED,
    [`status.loadBalancer.ingress[1]: non-standard IP address "10.0.0.01" ${FUTURE}: use "10.0.0.1"`],
  ],
  [
    'ingresses',
    ingresses,
    { spec: { defaultBackend: { service: { name: 'a', port: { number: 80 } } } } },
    BALANCED,
    [`status.loadBalancer.ingress[1]: non-standard IP address "10.0.0.01" ${FUTURE}: use "10.0.0.1"`],
  ],
])('addresses in the status of %s warn from 1.33 on', (_, definition, manifest, status, texts) => {
  expect(statusWarningsIn(33, definition, manifest, status)).toEqual(texts);
  expect(statusWarningsIn(32, definition, manifest, status)).toEqual([]);
});

test('a write of the status does not repeat the warnings of the object', () => {
  const deprecated = { spec: { externalID: 'x' } };
  expect(warningsIn(36, nodes, deprecated, deprecated)).toHaveLength(1);
  expect(statusWarningsIn(36, nodes, deprecated, {})).toEqual([]);
});

test('a status with very many addresses gives no more warnings than a response has room for', () => {
  const ingress = Array.from({ length: 24_000 }, (_, at) => ({ ip: `2001:DB8::${at.toString(16)}` }));
  const texts = statusWarningsIn(36, services, service({}), { loadBalancer: { ingress } });
  expect(texts).toHaveLength(100);
  expect(texts.join('').length).toBeGreaterThan(4096);
  expect(statusWarningsIn(36, pods, pod({}), { hostIPs: ingress })).toHaveLength(100);
});
