import { expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { deployments } from '../../src/resources/apps/deployment.ts';
import { replicasets } from '../../src/resources/apps/replica-set.ts';
import { jobs } from '../../src/resources/batch/job/definition.ts';
import { endpoints } from '../../src/resources/core/endpoints.ts';
import { nodes } from '../../src/resources/core/node.ts';
import { persistentvolumeclaims } from '../../src/resources/core/persistent-volume-claim/definition.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { endpointslices } from '../../src/resources/discovery/endpoint-slice.ts';
import { ingresses } from '../../src/resources/networking/ingress.ts';
import { csinodes } from '../../src/resources/storage/csi-node.ts';
import { storageclasses } from '../../src/resources/storage/storage-class.ts';
import { volumeattachments } from '../../src/resources/storage/volume-attachment.ts';
import { manifestsIn } from '../kit/manifests.ts';

/** Rules of updates and of statuses that a version changed: what the version before answers, and what it answers. */

const container = { name: 'c', image: 'i' };
const labels = { app: 'web' };
const replicas = {
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container] } },
  },
};
const node = (count: number, nodeID = 'n'): JsonObject => ({
  spec: { drivers: [{ name: 'a.example.com', nodeID, allocatable: { count } }] },
});
const storage = (provisioner: string): JsonObject => ({ provisioner });
const slice = (addressType: string, ...addresses: string[]): JsonObject => ({
  ...{ addressType, endpoints: [{ addresses }] },
});

test.each<
  [Minor, string, ResourceDefinition, from: JsonObject, to: JsonObject, before: string[], since: string[]]
>([
  [
    33,
    'the rest of a driver has another path',
    csinodes,
    node(1),
    node(1, 'other'),
    ['CSINodeDriver: Invalid value'],
    ['spec.drivers: Invalid value'],
  ],
  [
    36,
    'a field of a storage class is immutable, not forbidden',
    storageclasses,
    storage('a.example.com/a'),
    storage('b.example.com/b'),
    ['provisioner: Forbidden: updates to provisioner are forbidden.'],
    ['provisioner: Invalid value: "b.example.com/b": field is immutable'],
  ],
])('since 1.%d: %s', (minor, _, definition, from, to, before, since) => {
  const answer = (version: number): string[] =>
    manifestsIn(version as Minor).problemsOnUpdate(definition, from, to);
  expect(answer(minor - 1)).toEqual(before.map((line) => expect.stringContaining(line)));
  expect(answer(minor)).toEqual(since.map((line) => expect.stringContaining(line)));
});

test('how many volumes a node can attach changes with a feature alone', () => {
  const answer = (isOn: boolean): string[] =>
    manifestsIn(33, { MutableCSINodeAllocatableCount: isOn }).problemsOnUpdate(csinodes, node(1), node(2));
  expect(answer(true)).toEqual([]);
  expect(answer(false)).toEqual([expect.stringContaining('spec.drivers: Invalid value')]);
});

test.each<[JsonObject, before: string[], since: string[]]>([
  [slice('IPv4', '10.0.0.1'), [], []],
  [
    slice('IPv4', 'fd00::1'),
    ['endpoints[0].addresses[0]: Invalid value: "fd00::1": must be a valid IPv4 address'],
    ['endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address'],
  ],
  [
    slice('IPv6', 'FD00::1'),
    [],
    ['endpoints[0].addresses[0]: Invalid value: "FD00::1": must be in canonical form ("fd00::1")'],
  ],
  [
    slice('IPv4', '127.0.0.1'),
    ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range'],
    ['endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range'],
  ],
])('addresses of endpoints since 1.33: %j', (manifest, before, since) => {
  const answer = (minor: Minor): string[] => manifestsIn(minor).problemsOnCreate(endpointslices, manifest);
  expect(answer(32)).toEqual(before.map((line) => expect.stringContaining(line)));
  expect(answer(33)).toEqual(since.map((line) => expect.stringContaining(line)));
});

test.each<[ResourceDefinition, JsonObject]>([
  [endpointslices, slice('IPv4', '127.0.0.1')],
  [endpoints, { subsets: [{ addresses: [{ ip: '127.0.0.1' }] }] }],
])('endpoints that are as before are not judged again since 1.33: %#', (definition, manifest) => {
  const stored = manifestsIn(33).created(definition, manifest);
  const judge = (minor: Minor): number | undefined =>
    definition.strategy.validate?.(
      stored,
      structuredClone(stored),
      Object.assign(() => false, { minor }),
    ).length;
  expect([judge(32), judge(33)]).toEqual([1, 0]);
});

const at = '2026-01-01T00:00:00Z';
const later = '2026-01-01T01:00:00Z';
const job = (more: JsonObject = {}): JsonObject => ({
  spec: { template: { spec: { containers: [container], restartPolicy: 'Never' } }, ...more },
});
const suspended = (status: string, more: JsonObject = {}): JsonObject => ({
  conditions: [{ type: 'Suspended', status }],
  ...more,
});
const ended = (types: string[]): JsonObject => ({
  completionTime: at,
  conditions: types.map((type) => ({ type, status: 'True' })),
});

test.each<[string, Minor, JsonObject, from: JsonObject, to: JsonObject, lines: string[]]>([
  [
    'a job starts once',
    35,
    job(),
    { startTime: at },
    { startTime: later },
    ['status.startTime: Required value'],
  ],
  [
    'and the answer has other words since 1.36',
    36,
    job(),
    { startTime: at },
    { startTime: later },
    [
      'status.startTime: Invalid value: "2026-01-01T01:00:00Z": field is immutable for unsuspended job once set',
    ],
  ],
  [
    'one that goes on starts anew',
    32,
    job(),
    suspended('True', { startTime: at }),
    suspended('False', { startTime: later }),
    [],
  ],
  [
    'as it may not in 1.31',
    31,
    job(),
    suspended('True', { startTime: at }),
    suspended('False', { startTime: later }),
    ['status.startTime: Required value'],
  ],
  [
    'one for nothing ends without a start while it is suspended',
    32,
    job({ suspend: true, completions: 0 }),
    {},
    ended(['Complete', 'SuccessCriteriaMet']),
    [],
  ],
  [
    'as it may not in 1.31',
    31,
    job({ suspend: true, completions: 0 }),
    {},
    ended(['Complete']),
    ['status.startTime: Required value'],
  ],
])('%s (1.%d)', (_, minor, manifest, before, after, lines) => {
  const manifests = manifestsIn(minor, { JobManagedBy: true });
  const answers = manifests.problemsOnView(jobs, manifest, { before, after, view: undefined });
  expect(answers.filter((line) => line.startsWith('status.startTime'))).toEqual(
    lines.map((line) => expect.stringContaining(line)),
  );
});

test.each<[ResourceDefinition, JsonObject, JsonObject, string]>([
  [
    volumeattachments,
    { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } },
    { attached: false, attachError: { errorCode: -1 } },
    'status.attachError.errorCode: Invalid value: -1',
  ],
  [deployments, replicas, { terminatingReplicas: -1 }, 'status.terminatingReplicas: Invalid value: -1'],
  [
    replicasets,
    replicas,
    { replicas: 0, terminatingReplicas: -1 },
    'status.terminatingReplicas: Invalid value: -1',
  ],
])('numbers of a status that came since 1.33 have bounds: $resource', (definition, manifest, after, line) => {
  const change = { before: {}, after, view: undefined };
  expect(manifestsIn(36).problemsOnView(definition, manifest, change)).toEqual([
    expect.stringContaining(line),
  ]);
});

test.each<[ResourceDefinition, JsonObject, Minor, before: string[], since: string[]]>([
  [
    services,
    { spec: { type: 'LoadBalancer', ports: [{ port: 10250 }] } },
    33,
    ['spec.ports[0]: Invalid value: 10250: may not expose port 10250'],
    [],
  ],
  [
    nodes,
    { spec: { podCIDRs: ['10.0.0.0/24', '10.0.0.0/24'] } },
    33,
    ['spec.podCIDRs: Invalid value', 'spec.podCIDRs[1]: Duplicate value: "10.0.0.0/24"'],
    ['spec.podCIDRs: Invalid value'],
  ],
])('a new object since 1.33: $resource', (definition, manifest, minor, before, since) => {
  const answer = (version: number): string[] =>
    manifestsIn(version as Minor).problemsOnCreate(definition, manifest);
  expect(answer(minor - 1)).toEqual(before.map((line) => expect.stringContaining(line)));
  expect(answer(minor)).toEqual(since.map((line) => expect.stringContaining(line)));
});

test.each<[string[], string[]]>([
  [['InPlacePodResize', 'NodeSwap/limited'], []],
  [['inPlace'], ['status.declaredFeatures[0]: Invalid value: "inPlace"']],
  [['A/'], ['status.declaredFeatures[0]: Invalid value: "A/"']],
  [['A'.repeat(254)], ['status.declaredFeatures[0]: Invalid value: "AAA']],
  [['B', 'A'], ['status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically']],
  [['A', 'A'], ['status.declaredFeatures[1]: Duplicate value: "A"']],
])('a node declares its features by name, each once and in order: %j', (declaredFeatures, lines) => {
  const manifest = { status: { declaredFeatures } };
  expect(manifestsIn(36).problemsOnCreate(nodes, manifest)).toEqual(
    lines.map((line) => expect.stringContaining(line)),
  );
});

const balanced = (ip: string, more: JsonObject = {}): JsonObject => ({
  loadBalancer: { ingress: [{ ip, ...more }] },
});
test.each<[ResourceDefinition, JsonObject, JsonObject]>([
  [services, { spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }, { ipMode: 'VIP' }],
  [ingresses, { spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } }, {}],
])(
  'addresses of load balancers are clear since 1.36, unless they are stored: $resource',
  (definition, manifest, more) => {
    const status = balanced('010.0.0.1', more);
    const answer = (minor: Minor, before: JsonObject): string[] =>
      manifestsIn(minor).problemsOnView(definition, manifest, { before, after: status, view: 'status' });
    expect(answer(35, {})).toEqual([]);
    expect(answer(36, {})).toEqual([expect.stringContaining('ip: Invalid value: "010.0.0.1"')]);
    expect(answer(36, status)).toEqual([]);
  },
);

test('the attributes of a volume are kept, and since 1.34 those that are only wanted are not', () => {
  const claim = (volumeAttributesClassName: string | undefined, status: JsonObject): JsonObject => ({
    spec: {
      ...{ accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      ...(volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName }),
    },
    status: { phase: 'Bound', ...status },
  });
  const answer = (minor: Minor, to: string | undefined, status: JsonObject = {}, from = 'gold'): string[] => {
    const manifests = manifestsIn(minor, { VolumeAttributesClass: true });
    const [old, now] = [claim(from, status), claim(to, status)].map((manifest) => ({
      ...manifests.created(persistentvolumeclaims, manifest),
      status: manifest.status as JsonObject,
    }));
    if (old === undefined || now === undefined) throw new Error('no claims');
    const isOn = Object.assign(() => true, { minor });
    return (persistentvolumeclaims.strategy.validateUpdate?.(now, old, isOn) ?? []).map(({ field }) => field);
  };
  expect(answer(33, undefined)).toEqual(['spec', 'spec.volumeAttributesClassName']);
  expect(answer(34, undefined)).toEqual([]);
  expect(answer(34, 'silver')).toEqual([]);
  const had = { currentVolumeAttributesClassName: 'gold' };
  expect(answer(34, undefined, had)).toEqual(['spec.volumeAttributesClassName']);
  expect(answer(34, '', had)).toEqual(['spec.volumeAttributesClassName']);
  // What is empty may stay.
  expect([answer(33, '', {}, ''), answer(34, '', had, '')]).toEqual([[], []]);
});

test('statuses of resources of claims have their own path since 1.34', () => {
  const manifest = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
  const answer = (minor: Minor): string[] =>
    manifestsIn(minor, { RecoverVolumeExpansionFailure: true }).problemsOnView(
      persistentvolumeclaims,
      manifest,
      { before: {}, after: { allocatedResourceStatuses: { cpu: 'a' } }, view: undefined },
    );
  expect(answer(33)).toContainEqual(expect.stringContaining('status.allocatedResourceStatus: '));
  expect(answer(34)).toContainEqual(expect.stringContaining('status.allocatedResourceStatuses: '));
});

test('a write of the status of a ServiceCIDR keeps its metadata since 1.32', () => {
  const metadata = { name: 'more', labels: { kept: 'yes' } };
  const old = { kind: 'ServiceCIDR', apiVersion: 'networking.k8s.io/v1', metadata, spec: { cidrs: [] } };
  const labelsIn = (minor: Minor): unknown => {
    const definition = builtInResources(minor).find(({ resource }) => resource === 'servicecidrs');
    const views = definition?.subresources.filter(({ name }) => name === 'status') ?? [];
    const [view] = views;
    if (view?.access !== 'view' || views.length !== 1)
      throw new Error(`1.${minor} has ${views.length} views`);
    const written = { ...old, metadata: { ...metadata, labels: { new: 'yes' } } };
    return view.write(written, old).metadata.labels;
  };
  expect(MINORS.map(labelsIn)).toEqual(
    MINORS.map((minor) => (minor < 32 ? { new: 'yes' } : metadata.labels)),
  );
});
