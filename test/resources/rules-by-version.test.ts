import { describe, expect, test } from 'vitest';
import { MINORS, type Minor, toVersion } from '../../src/api/emulation.ts';
import { type Gates, gatesOf } from '../../src/api/feature-gates.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { statefulsets } from '../../src/resources/apps/stateful-set.ts';
import { horizontalpodautoscalers } from '../../src/resources/autoscaling/horizontal-pod-autoscaler/definition.ts';
import { jobs } from '../../src/resources/batch/job/definition.ts';
import { persistentvolumes } from '../../src/resources/core/persistent-volume/definition.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { prioritylevelconfigurations } from '../../src/resources/flowcontrol/priority-level-configuration.ts';
import { ingresses } from '../../src/resources/networking/ingress.ts';
import { ipaddresses } from '../../src/resources/networking/ip-address.ts';
import { networkpolicies } from '../../src/resources/networking/network-policy.ts';
import { servicecidrs } from '../../src/resources/networking/service-cidr.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { validateObject, validateUpdate } from '../../src/verbs/writing/prepare-write.ts';
import { manifestsIn } from '../kit/manifests.ts';

/** Rules that a version of Kubernetes changed, in the version before it and in that version. */

const previous = (minor: Minor): Minor => MINORS[MINORS.indexOf(minor) - 1] ?? 31;

const refusalsOf = (minor: Minor, definition: ResourceDefinition, manifest: JsonObject): string[] =>
  manifestsIn(minor).problemsOnCreate(definition, manifest);

const addressOf = (name: string): JsonObject => ({
  metadata: { name },
  spec: { parentRef: { resource: 'services', namespace: 'default', name: 'web' } },
});

/** The gates of the version, by default. */
const gates = (minor: Minor): Gates =>
  Object.assign((name: string) => gatesOf(minor).get(name)?.on ?? false, { minor });

/** What an update to `to` of the object that was stored as `from` answers. */
function changesOf(minor: Minor, definition: ResourceDefinition, from: JsonObject, to: JsonObject): string[] {
  const isOn = gates(minor);
  const types = loadTypes(minor);
  const old = manifestsIn(minor).created(definition, from);
  const object = manifestsIn(minor).updated(definition, from, to);
  const errors = [
    ...validateObject(definition, object, types, { old, isOn }),
    ...validateUpdate(definition, object, { old, types, isOn }),
  ];
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

const containers = [{ name: 'c', image: 'i' }];
const labels = { app: 'web' };
const selector = { matchLabels: labels };
const template = (spec: JsonObject = {}): JsonObject => ({
  metadata: { labels },
  spec: { containers, ...spec },
});

const pod = (spec: JsonObject): JsonObject => ({ metadata: { labels }, spec: { containers, ...spec } });
const hook = (seconds: number): JsonObject =>
  pod({ containers: [{ ...containers[0], lifecycle: { preStop: { sleep: { seconds } } } }] });
const searching = (...searches: string[]): JsonObject => pod({ dnsConfig: { searches } });
const set = (spec: JsonObject): JsonObject => ({
  spec: { selector, template: template(), serviceName: 's', ...spec },
});
const claim = (storage: string | undefined): JsonObject => ({
  metadata: { name: 'data' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: storage === undefined ? {} : { storage } } },
});
const mounting = (name: string): JsonObject =>
  template({ containers: [{ ...containers[0], volumeMounts: [{ name, mountPath: '/data' }] }] });
const scaler = (spec: JsonObject): JsonObject => ({
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }, ...spec },
});
const target = (apiVersion: string): JsonObject => ({
  scaleTargetRef: { apiVersion, kind: 'Deployment', name: 'd' },
});
const service = (name: string): JsonObject => ({ metadata: { name }, spec: { ports: [{ port: 80 }] } });
const blocking = (cidr: string): JsonObject => ({
  spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr } }] }] },
});
const ingress = (name: string): JsonObject => ({
  spec: { defaultBackend: { service: { name, port: { number: 80 } } } },
});

describe('a version refuses what the one before it took', () => {
  test.each<[Minor, ResourceDefinition, JsonObject, string[]]>([
    [33, statefulsets, set({ serviceName: 'a.b' }), ['spec.serviceName: Invalid value']],
    [
      34,
      statefulsets,
      set({ template: template({ containers: [{ name: 'C', image: 'i' }] }) }),
      ['spec.template.spec.containers[0].name: Invalid value: "C"'],
    ],
    [
      34,
      statefulsets,
      set({ template: template({ containers: [] }) }),
      ['spec.template.spec.containers: Required value'],
    ],
    [
      34,
      statefulsets,
      set({ template: template({ dnsPolicy: 'Own' }) }),
      ['spec.template.spec.dnsPolicy: Unsupported value: "Own"'],
    ],
    [
      34,
      statefulsets,
      set({ template: mounting('data') }),
      ['spec.template.spec.containers[0].volumeMounts[0].name: Not found'],
    ],
    [
      34,
      statefulsets,
      set({ volumeClaimTemplates: [claim(undefined)] }),
      ['spec.volumeClaimTemplates[0].spec.resources[storage]: Required'],
    ],
    [
      34,
      horizontalpodautoscalers,
      scaler(target('v1')),
      ['spec.scaleTargetRef.apiVersion: Invalid value: "v1"'],
    ],
    [34, horizontalpodautoscalers, scaler(target('')), ['spec.scaleTargetRef.apiVersion: Invalid value: ""']],
    [
      34,
      horizontalpodautoscalers,
      scaler(target('a/b/c')),
      ['spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    [
      36,
      pods,
      pod({ hostAliases: [{ ip: '010.0.0.1', hostnames: ['a'] }] }),
      ['spec.hostAliases[0].ip: Invalid value: "010.0.0.1": must not have leading 0s'],
    ],
    [
      36,
      pods,
      pod({ dnsConfig: { nameservers: ['::ffff:10.0.0.1'] } }),
      [
        'spec.dnsConfig.nameservers[0]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address',
      ],
    ],
    [
      36,
      services,
      { spec: { ports: [{ port: 80 }], externalIPs: ['010.0.0.1'] } },
      ['spec.externalIPs[0]: Invalid value: "010.0.0.1": must not have leading 0s'],
    ],
    [
      36,
      networkpolicies,
      blocking('10.0.0.1/24'),
      [
        'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
      ],
    ],
    [
      36,
      networkpolicies,
      blocking('10.00.0.0/24'),
      ['cidr: Invalid value: "10.00.0.0/24": must not have leading 0s in IP or prefix length'],
    ],
    [36, networkpolicies, blocking('::ffff:10.0.0.0/120'), ['must not have an IPv4-mapped IPv6 address']],
  ])('%s: %#', (minor, definition, manifest, lines) => {
    expect(refusalsOf(previous(minor), definition, manifest)).toEqual([]);
    const refused = refusalsOf(minor, definition, manifest);
    expect(refused).toEqual(lines.map((line) => expect.stringContaining(line)));
    // What is stored may stay as it is.
    const { metadata = {} } = manifest;
    const changed = { ...manifest, metadata: { ...(metadata as JsonObject), labels: { other: 'label' } } };
    expect(changesOf(minor, definition, manifest, changed)).toEqual([]);
  });
});

describe('a version takes what the one before it refused', () => {
  test.each<[Minor, ResourceDefinition, JsonObject, string]>([
    [
      33,
      pods,
      hook(0),
      'spec.containers[0].lifecycle.preStop.sleep: Invalid value: 0: must be greater than 0',
    ],
    [33, pods, searching('.', '_tcp.example.com'), 'spec.dnsConfig.searches[0]: Invalid value: ""'],
    [36, services, service('1web'), 'metadata.name: Invalid value: "1web"'],
    [36, ingresses, ingress('1web'), 'spec.defaultBackend.service.name: Invalid value: "1web"'],
  ])('%s: %#', (minor, definition, manifest, line) => {
    const refused = refusalsOf(previous(minor), definition, manifest);
    expect(refused[0]).toContain(line);
    expect(refusalsOf(minor, definition, manifest)).toEqual([]);
    const { metadata = {} } = manifest;
    const changed = { ...manifest, metadata: { ...(metadata as JsonObject), labels: { other: 'label' } } };
    expect(changesOf(previous(minor), definition, manifest, changed)).toEqual([]);
  });

  test('and still refuses the rest', () => {
    expect(refusalsOf(33, pods, hook(-1))[0]).toContain('must be non-negative and less than');
    expect(refusalsOf(33, pods, searching('a..b', 'A'))).toHaveLength(2);
    expect(refusalsOf(36, services, service('a.b'))[0]).toContain('metadata.name: Invalid value: "a.b"');
    expect(refusalsOf(36, ingresses, ingress('a.b'))[0]).toContain('service.name: Invalid value: "a.b"');
  });
});

test('the claims of a set are volumes of its pods', () => {
  const data = set({ template: mounting('data'), volumeClaimTemplates: [claim('1Gi')] });
  for (const minor of MINORS) expect(refusalsOf(minor, statefulsets, data), toVersion(minor)).toEqual([]);
});

test('how many revisions a set keeps can be changed since 1.33', () => {
  const [from, to] = [set({ revisionHistoryLimit: 3 }), set({ revisionHistoryLimit: 4 })];
  expect(changesOf(32, statefulsets, from, to)).toEqual([
    expect.stringContaining("'updateStrategy', 'persistentVolume"),
  ]);
  expect(changesOf(33, statefulsets, from, to)).toEqual([]);
  expect(changesOf(33, statefulsets, from, set({ podManagementPolicy: 'Parallel' }))).toEqual([
    expect.stringContaining("'updateStrategy', 'revisionHistoryLimit', 'persistentVolume"),
  ]);
});

test('a replication controller is scaled although its group has no name', () => {
  const scaled = scaler({ scaleTargetRef: { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' } });
  expect(refusalsOf(36, horizontalpodautoscalers, scaled)).toEqual([]);
});

test('the most replicas are required by name since 1.36', () => {
  const lines = (minor: Minor): (string | undefined)[] =>
    [0, -1].map((maxReplicas) =>
      refusalsOf(minor, horizontalpodautoscalers, scaler({ maxReplicas })).find(
        (line) => !line.includes('minReplicas'),
      ),
    );
  expect(lines(35)).toEqual([
    'spec.maxReplicas: Invalid value: 0: must be greater than 0',
    'spec.maxReplicas: Invalid value: -1: must be greater than 0',
  ]);
  expect(lines(36)).toEqual([
    'spec.maxReplicas: Required value: must be set and greater than 0',
    'spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1',
  ]);
});

test('a range of the other family can be added to the addresses of services since 1.33', () => {
  const ranges = (...cidrs: string[]): JsonObject => ({ spec: { cidrs } });
  const [four, six] = ['10.0.0.0/24', '2001:db8::/64'];
  expect(changesOf(32, servicecidrs, ranges(four), ranges(four, six))).toHaveLength(1);
  expect(changesOf(33, servicecidrs, ranges(four), ranges(four, six))).toEqual([]);
  for (const [from, to] of [
    [ranges(four, six), ranges(four)],
    [ranges(four), ranges(six, four)],
    [ranges(four), ranges('10.1.0.0/24')],
  ] as const)
    expect(changesOf(33, servicecidrs, from, to)[0]).toContain('field is immutable');
  expect(changesOf(33, servicecidrs, ranges(four), ranges(four, '10.1.0.0/24'))).not.toEqual([]);
});

test.each<[ResourceDefinition, JsonObject, before: string[], since: string[]]>([
  [servicecidrs, { spec: { cidrs: ['a', '10.0.0.0/24'] } }, ['spec.cidrs: '], ['spec.cidrs[0]: ']],
  [
    servicecidrs,
    { spec: { cidrs: ['10.0.0.1/24', '10.1.0.0/24'] } },
    ['spec.cidrs: '],
    [
      'spec.cidrs: Invalid value: []string{"10.0.0.1/24", "10.1.0.0/24"}: may specify no more than one',
      'spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
    ],
  ],
  [
    servicecidrs,
    { spec: { cidrs: ['2001:DB8::/64'] } },
    ['spec.cidrs[0]: Invalid value: "2001:DB8::/64": CIDR not in RFC 5952'],
    ['spec.cidrs[0]: Invalid value: "2001:DB8::/64": must be in canonical form ("2001:db8::/64")'],
  ],
  [servicecidrs, { spec: { cidrs: ['a', 'b', 'c'] } }, ['spec.cidrs: '], ['spec.cidrs: ']],
  [
    ipaddresses,
    addressOf('::ffff:10.0.0.1'),
    [],
    ['metadata.name: Invalid value: "::ffff:10.0.0.1": must not'],
  ],
  [ipaddresses, addressOf('2001:db8::1'), [], []],
])(
  'addresses and ranges are judged by one rule for all new fields since 1.33, row %#',
  (definition, manifest, before, since) => {
    const startsOf = (minor: Minor, starts: string[]): void =>
      expect(refusalsOf(minor, definition, manifest)).toEqual(
        starts.map((one) => expect.stringContaining(one)),
      );
    startsOf(32, before);
    startsOf(33, since);
  },
);

test('keys of a spread constraint become expressions of the pod’s own values since 1.34', () => {
  const constraint = {
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: {},
    matchLabelKeys: ['app', 'none'],
  };
  const spread = pod({ topologySpreadConstraints: [constraint] });
  const selectorIn = (minor: Minor): unknown =>
    (manifestsIn(minor).created(pods, spread) as { spec?: { topologySpreadConstraints?: JsonObject[] } }).spec
      ?.topologySpreadConstraints?.[0]?.labelSelector;
  expect(selectorIn(33)).toEqual({});
  const merged = { matchExpressions: [{ key: 'app', operator: 'In', values: ['web'] }] };
  expect(selectorIn(34)).toEqual(merged);
  const own = pod({
    topologySpreadConstraints: [{ ...constraint, labelSelector: { matchLabels: { app: 'web' } } }],
  });
  for (const minor of [33, 34] as const)
    expect(refusalsOf(minor, pods, own)[0]).toContain('exists in both matchLabelKeys and labelSelector');
  // A server of 1.33 leaves the pods of 1.34 alone.
  const made = pod({ topologySpreadConstraints: [{ ...constraint, labelSelector: merged }] });
  const image = pod({
    containers: [{ ...containers[0], image: 'j' }],
    topologySpreadConstraints: [{ ...constraint, labelSelector: merged }],
  });
  expect(changesOf(33, pods, made, image)).toEqual([]);
});

describe('what a suspended job’s pods ask for', () => {
  const job = (asked: JsonObject, status: JsonObject = {}, suspend = true): ApiObject => ({
    ...{ kind: 'Job', apiVersion: 'batch/v1', metadata: { name: 'j' } },
    spec: { suspend, template: { metadata: {}, spec: { containers, ...asked } } },
    status,
  });
  const resources = { containers: [{ ...containers[0], resources: { requests: { cpu: '1' } } }] };
  const started = { startTime: '2026-01-01T00:00:00Z' };
  const stopped = { ...started, conditions: [{ type: 'Suspended', status: 'True' }] };
  const refused = (minor: Minor, asked: JsonObject, status: JsonObject, suspend?: boolean): string[] => {
    const found = jobs.strategy.validateUpdate?.(
      job(asked, status, suspend),
      job({}, status, suspend),
      gates(minor),
    );
    return (found ?? []).map(({ field }) => field);
  };

  test.each<[JsonObject, JsonObject, string[], string[]]>([
    [resources, {}, ['spec.template'], []],
    [resources, stopped, ['spec.template'], []],
    [resources, { ...stopped, active: 1 }, ['spec.template'], ['spec.template']],
    [resources, started, ['spec.template'], ['spec.template']],
    [{ nodeSelector: { a: 'b' } }, {}, [], []],
    [{ nodeSelector: { a: 'b' } }, stopped, ['spec.template'], []],
    [{ containers: [{ name: 'c', image: 'j' }] }, stopped, ['spec.template'], ['spec.template.spec']],
  ])('%j beside %j changes since 1.36', (asked, status, old, now) => {
    expect(refused(35, asked, status)).toEqual(old);
    expect(refused(36, asked, status)).toEqual(now);
    expect(refused(36, asked, status, false)).toEqual(['spec.template']);
  });
});

test('features that are off by default open their rules', () => {
  const shared = pod({ hostUsers: false, hostNetwork: true });
  expect(manifestsIn(35).problemsOnCreate(pods, shared)[0]).toContain('hostNetwork: Forbidden');
  expect(manifestsIn(35, { UserNamespacesHostNetworkSupport: true }).problemsOnCreate(pods, shared)).toEqual(
    [],
  );
  const volume = (zone: string): JsonObject => ({
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      hostPath: { path: '/data' },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }],
        },
      },
    },
  });
  const [from, to] = [volume('a'), volume('b')];
  expect(manifestsIn(35).problemsOnUpdate(persistentvolumes, from, to)[0]).toContain('nodeAffinity');
  const open = manifestsIn(35, { MutablePVNodeAffinity: true });
  expect(open.problemsOnUpdate(persistentvolumes, from, to)).toEqual([]);
});

test('a volume of a repository is said to be off since 1.33, unless its gate is on', () => {
  const manifest = pod({ volumes: [{ name: 'a', gitRepo: { repository: 'x' } }] });
  const warnings = (minor: Minor, isOn: Gates): string[] | undefined =>
    pods.strategy.warnings?.(manifestsIn(minor).created(pods, manifest), undefined, isOn);
  const deprecated = 'spec.volumes[0].gitRepo: deprecated in v1.11';
  expect(warnings(32, gates(32))).toEqual([deprecated]);
  expect(warnings(33, gates(33))).toEqual([`${deprecated}, and disabled by default in v1.33+`]);
  expect(
    warnings(
      33,
      Object.assign(() => true, { minor: 33 as const }),
    ),
  ).toEqual([deprecated]);
});

test('a priority level without a type has a wrong one until 1.35, and none since', () => {
  const level = (spec: JsonObject): JsonObject => ({ metadata: { name: 'own' }, spec });
  const of = (minor: Minor, spec: JsonObject): string[] =>
    refusalsOf(minor, prioritylevelconfigurations, level(spec));
  const wrong = 'spec.type: Unsupported value: "": supported values: "Exempt", "Limited"';
  expect(of(31, {})).toEqual([wrong]);
  expect(of(35, {})).toEqual([wrong]);
  expect(of(36, {})).toEqual(['spec.type: Required value']);
  const limited = { type: 'Limited', limited: {} };
  const response = 'spec.limited.limitResponse.type';
  expect(of(35, limited)).toEqual([
    `${response}: Unsupported value: "": supported values: "Queue", "Reject"`,
  ]);
  expect(of(36, limited)).toEqual([`${response}: Required value`]);
  const exempt = 'spec.type: Invalid value: "Exempt": ';
  expect(of(33, { type: 'Exempt' })).toEqual([
    `${exempt}type must be 'Exempt' if and only if name is 'exempt'`,
  ]);
  expect(of(34, { type: 'Exempt' })).toEqual([
    `${exempt}must be 'Exempt' if and only if \`name\` is 'exempt'`,
  ]);
});
