import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { csidrivers } from '../../src/resources/storage/csi-driver.ts';
import { csinodes } from '../../src/resources/storage/csi-node.ts';
import { csistoragecapacities } from '../../src/resources/storage/csi-storage-capacity.ts';
import { storageclasses } from '../../src/resources/storage/storage-class.ts';
import { volumeattachments } from '../../src/resources/storage/volume-attachment.ts';
import { volumeattributesclasses } from '../../src/resources/storage/volume-attributes-class.ts';
import { created, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';

const NOW = Date.parse('2024-08-13T12:00:00Z');
const warnings = (definition: ResourceDefinition, manifest: JsonObject): string[] =>
  definition.strategy.warnings?.(created(definition, manifest), undefined) ?? [];
/** Cells without the age. */
const row = (definition: ResourceDefinition, manifest: JsonObject): unknown[] =>
  definition.cells(created(definition, manifest), NOW).slice(0, -1);
const column = (definition: ResourceDefinition): string[] => definition.columns.map(({ name }) => name);

describe('storage classes', () => {
  const topology = (values: string[], key = 'topology.kubernetes.io/zone') => ({
    matchLabelExpressions: [{ key, values }],
  });
  const good = {
    provisioner: 'Kubernetes.io/AWS-ebs',
    parameters: { type: 'gp3' },
    mountOptions: ['discard'],
    allowVolumeExpansion: true,
    volumeBindingMode: 'WaitForFirstConsumer',
    allowedTopologies: [topology(['a', 'b']), topology(['c'])],
  };
  const many = Object.fromEntries(Array.from({ length: 513 }, (_, at) => [`p${at}`, 'x']));

  test('a good one has no problems, and deletes what is let go unless it says otherwise', () => {
    expect(problemsOnCreate(storageclasses, good)).toEqual([]);
    expect(created(storageclasses, good).reclaimPolicy).toBe('Delete');
  });

  test.each<[string, JsonObject, string[]]>([
    ['no provisioner', { provisioner: '' }, ['provisioner: Required value']],
    [
      'recycling',
      { reclaimPolicy: 'Recycle' },
      ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
    ],
    [
      'an unknown binding mode',
      { volumeBindingMode: 'Later' },
      [
        'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
      ],
    ],
    ['too many parameters', { parameters: many }, ['parameters: Too long: must have at most 512 bytes']],
    [
      'parameters that are too large',
      { parameters: { a: 'x'.repeat(256 * 1024) } },
      ['parameters: Too long: must have at most 262144 bytes'],
    ],
    [
      'a parameter without a name',
      { parameters: { '': 'x' } },
      ['parameters: Invalid value: "": field can not be empty.'],
    ],
    [
      'a topology without values',
      { allowedTopologies: [topology([])] },
      ['allowedTopologies[0].matchLabelExpressions[0].values: Required value'],
    ],
    [
      'a value twice',
      { allowedTopologies: [topology(['a', 'a'])] },
      ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"'],
    ],
    [
      'the same topology in another order',
      { allowedTopologies: [topology(['a', 'b']), topology(['b', 'a'])] },
      ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
    ],
  ])('%s is refused', (_, change, problems) => {
    expect(problemsOnCreate(storageclasses, { ...good, ...change })).toEqual(problems);
  });

  test('what made volumes cannot change; what will make them can', () => {
    const changed = { ...good, allowVolumeExpansion: false, mountOptions: [], allowedTopologies: [] };
    expect(problemsOnUpdate(storageclasses, good, changed)).toEqual([]);
    expect(
      problemsOnUpdate(storageclasses, good, {
        provisioner: 'other',
        parameters: {},
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'Immediate',
      }),
    ).toEqual([
      'parameters: Forbidden: updates to parameters are forbidden.',
      'provisioner: Forbidden: updates to provisioner are forbidden.',
      'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
      'volumeBindingMode: Invalid value: "Immediate": field is immutable',
    ]);
  });

  test('old labels of nodes are warned of, and the default class is shown as such', () => {
    const old = { ...good, allowedTopologies: [topology(['a'], 'beta.kubernetes.io/arch')] };
    expect(warnings(storageclasses, old)).toEqual([
      'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ]);
    const annotations = { 'storageclass.beta.kubernetes.io/is-default-class': 'true' };
    expect(row(storageclasses, { ...good, metadata: { annotations } })).toEqual([
      'it (default)',
      'Kubernetes.io/AWS-ebs',
      'Delete',
      'WaitForFirstConsumer',
      true,
    ]);
  });
});

describe('volume attributes classes', () => {
  const good = { driverName: 'csi.example.com', parameters: { iops: '3000' } };

  test('a good one has no problems, an empty one says nothing', () => {
    expect(problemsOnCreate(volumeattributesclasses, good)).toEqual([]);
    expect(problemsOnCreate(volumeattributesclasses, {})).toEqual([
      'driverName: Required value',
      'parameters: Required value: must contain at least one key/value pair',
    ]);
  });

  test('none of it can change', () => {
    expect(
      problemsOnUpdate(volumeattributesclasses, good, { driverName: 'b', parameters: { iops: '1' } }),
    ).toEqual([
      'driverName: Forbidden: updates to driverName are forbidden.',
      'parameters: Forbidden: updates to parameters are forbidden.',
    ]);
    expect(row(volumeattributesclasses, good)).toEqual(['it', 'csi.example.com']);
  });
});

describe('CSI drivers', () => {
  const good = {
    spec: { tokenRequests: [{ audience: 'vault', expirationSeconds: 3600 }, { audience: '' }] },
  };

  test('a good one has no problems and is filled in', () => {
    expect(problemsOnCreate(csidrivers, good)).toEqual([]);
    expect(created(csidrivers, good).spec).toEqual({
      attachRequired: true,
      podInfoOnMount: false,
      volumeLifecycleModes: ['Persistent'],
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      tokenRequests: [{ audience: 'vault', expirationSeconds: 3600 }, { audience: '' }],
      requiresRepublish: false,
      seLinuxMount: false,
    });
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'an unknown policy',
      { fsGroupPolicy: 'All' },
      [
        'spec.fsGroupPolicy: Unsupported value: "All": supported values: "File", "None", "ReadWriteOnceWithFSType"',
      ],
    ],
    [
      'an unknown mode',
      { volumeLifecycleModes: ['Forever'] },
      [
        'spec.volumeLifecycleModes: Unsupported value: "Forever": supported values: "Persistent", "Ephemeral"',
      ],
    ],
    [
      'an audience twice',
      { tokenRequests: [{ audience: 'a' }, { audience: 'a' }] },
      ['spec.tokenRequests[1].audience: Duplicate value: "a"'],
    ],
    [
      'tokens too short or too long',
      {
        tokenRequests: [
          { audience: 'a', expirationSeconds: 599 },
          { audience: 'b', expirationSeconds: 2 ** 32 + 1 },
          { audience: 'c', expirationSeconds: 2n ** 60n },
        ],
      },
      [
        'spec.tokenRequests[0].expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
        'spec.tokenRequests[1].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
        'spec.tokenRequests[2].expirationSeconds: Invalid value: 1152921504606846976: may not specify a duration larger than 2^32 seconds',
      ],
    ],
  ])('%s is refused', (_, spec, problems) => {
    expect(problemsOnCreate(csidrivers, { spec })).toEqual(expect.arrayContaining(problems));
  });

  test('what attached volumes rely on cannot change; the first change of the spec gives a generation', () => {
    const changed = { spec: { attachRequired: false, volumeLifecycleModes: ['Ephemeral'] } };
    expect(problemsOnUpdate(csidrivers, good, changed)).toEqual([
      'spec.attachedRequired: Invalid value: false: field is immutable',
      'spec.volumeLifecycleModes: Invalid value: []storage.VolumeLifecycleMode{"Ephemeral"}: field is immutable',
    ]);
    const old = created(csidrivers, good);
    const object = created(csidrivers, { spec: { podInfoOnMount: true } });
    csidrivers.strategy.prepareForUpdate?.(object, old);
    expect([old.metadata.generation, object.metadata.generation]).toEqual([undefined, 1]);
  });

  test('the table shows flags, audiences and modes', () => {
    expect(column(csidrivers)).toEqual([
      'Name',
      'AttachRequired',
      'PodInfoOnMount',
      'StorageCapacity',
      'TokenRequests',
      'RequiresRepublish',
      'Modes',
      'Age',
    ]);
    expect(row(csidrivers, good)).toEqual(['it', true, false, false, 'vault,', false, 'Persistent']);
    expect(row(csidrivers, { spec: {} })[4]).toBe('<unset>');
  });
});

describe('CSI nodes', () => {
  const driver = { name: 'csi.example.com', nodeID: 'n1', topologyKeys: ['example.com/zone'] };
  const good = { spec: { drivers: [{ ...driver, allocatable: { count: 3 } }] } };

  test('a good one has no problems', () => {
    expect(problemsOnCreate(csinodes, good)).toEqual([]);
    expect(row(csinodes, good)).toEqual(['it', 1]);
  });

  test.each<[string, JsonObject, string[]]>([
    ['no node ID', { nodeID: '' }, ['spec.drivers[0].nodeID: Required value']],
    [
      'a node ID that is too long',
      { nodeID: 'x'.repeat(257) },
      [`spec.drivers[0].nodeID: Invalid value: "${'x'.repeat(257)}": must be 256 characters or less`],
    ],
    [
      'fewer volumes than none',
      { allocatable: { count: -1 } },
      ['spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0'],
    ],
    ['a key twice', { topologyKeys: ['a', 'a'] }, ['spec.drivers[0]: Duplicate value: "a"']],
    [
      'a driver name that is too long',
      { name: 'x'.repeat(64) },
      ['spec.drivers[0].name: Too long: must have at most 63 bytes'],
    ],
  ])('%s is refused', (_, change, problems) => {
    expect(problemsOnCreate(csinodes, { spec: { drivers: [{ ...driver, ...change }] } })).toEqual(problems);
  });

  test('a driver is there once, and stays as it is while it is there', () => {
    expect(problemsOnCreate(csinodes, { spec: { drivers: [driver, driver] } })).toEqual([
      'spec.drivers[1].name: Duplicate value: "csi.example.com"',
    ]);
    const other = { name: 'b', nodeID: 'n1', topologyKeys: null };
    expect(problemsOnUpdate(csinodes, good, { spec: { drivers: [other] } })).toEqual([]);
    const changed = { ...driver, nodeID: 'n2' };
    expect(problemsOnUpdate(csinodes, good, { spec: { drivers: [changed] } })).toEqual([
      'CSINodeDriver: Invalid value: storage.CSINodeDriver{Name:"csi.example.com", NodeID:"n2", TopologyKeys:[]string{"example.com/zone"}, Allocatable:(*storage.VolumeNodeResources)(nil)}: field is immutable',
    ]);
  });
});

describe('CSI storage capacities', () => {
  const good = {
    storageClassName: 'fast',
    capacity: '10Gi',
    nodeTopology: { matchLabels: { 'kubernetes.io/hostname': 'n1' } },
  };

  test('a good one has no problems and the table of every resource without one', () => {
    expect(problemsOnCreate(csistoragecapacities, good)).toEqual([]);
    expect(column(csistoragecapacities)).toEqual(['Name', 'Created At']);
  });

  test('bad values are refused', () => {
    expect(
      problemsOnCreate(csistoragecapacities, {
        ...good,
        capacity: '-1',
        nodeTopology: { matchExpressions: [{ key: 'a', operator: 'In' }] },
      }),
    ).toEqual([
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
      "nodeTopology.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ]);
  });

  test('the capacity can change, what it is the capacity of can not', () => {
    expect(problemsOnUpdate(csistoragecapacities, good, { ...good, capacity: '1Gi' })).toEqual([]);
    expect(problemsOnUpdate(csistoragecapacities, good, { ...good, storageClassName: 'slow' })).toEqual([
      'storageClassName: Invalid value: "slow": field is immutable',
    ]);
  });

  test('old labels of nodes are warned of', () => {
    expect(
      warnings(csistoragecapacities, {
        ...good,
        nodeTopology: {
          matchLabels: { 'beta.kubernetes.io/os': 'linux' },
          matchExpressions: [{ key: 'node-role.kubernetes.io/master', operator: 'Exists' }],
        },
      }),
    ).toEqual([
      'nodeTopology.matchExpressions[0].key: node-role.kubernetes.io/master is use "node-role.kubernetes.io/control-plane" instead',
      'nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]);
  });
});

describe('volume attachments', () => {
  const good = {
    spec: { attacher: 'csi.example.com', nodeName: 'n1', source: { persistentVolumeName: 'pv1' } },
  };
  const inline = {
    csi: { driver: 'csi.example.com', volumeHandle: 'h' },
    accessModes: ['ReadWriteOnce'],
  };
  const withSource = (source: JsonObject) => ({ spec: { ...good.spec, source } });

  test('a good one has no problems, and is not attached', () => {
    expect(problemsOnCreate(volumeattachments, { ...good, status: { attached: true } })).toEqual([]);
    expect(problemsOnCreate(volumeattachments, withSource({ inlineVolumeSpec: inline }))).toEqual([]);
    expect(created(volumeattachments, { ...good, status: { attached: true } }).status).toEqual({
      attached: false,
    });
    expect(row(volumeattachments, good)).toEqual(['it', 'csi.example.com', 'pv1', 'n1', false]);
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'no source',
      {},
      ['spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
    ],
    [
      'two sources',
      { persistentVolumeName: 'a', inlineVolumeSpec: inline },
      ['spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName'],
    ],
    [
      'an inline volume with what only a volume of its own has',
      {
        inlineVolumeSpec: {
          ...inline,
          capacity: { storage: '1Gi' },
          claimRef: { name: 'c' },
          storageClassName: 's',
          persistentVolumeReclaimPolicy: 'Delete',
          volumeMode: 'Block',
        },
      },
      [
        'spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes',
        'spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes',
        'spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes',
      ],
    ],
    [
      'an inline volume that is not of CSI',
      { inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], nfs: { server: 's', path: '/' } } },
      [
        'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
      ],
    ],
  ])('%s is refused', (_, source, problems) => {
    expect(problemsOnCreate(volumeattachments, withSource(source))).toEqual(problems);
  });

  test('the spec cannot change', () => {
    const spec = { ...good.spec, nodeName: 'n2' };
    expect(problemsOnUpdate(volumeattachments, good, good)).toEqual([]);
    expect(problemsOnUpdate(volumeattachments, good, { spec })[0]).toMatch(
      /^spec: Invalid value: .*: field is immutable$/,
    );
  });

  test('who writes the status writes nothing else', () => {
    const view = volumeattachments.subresources.find(({ name }) => name === 'status');
    if (view?.access !== 'view') throw new Error('no status');
    const old = created(volumeattachments, { ...good, metadata: { labels: { a: 'b' } } });
    const object = view.write({ ...old, metadata: { name: 'it' }, status: { attached: true } }, old);
    expect(object.metadata.labels).toEqual({ a: 'b' });
    expect(object.status).toEqual({ attached: true });
    const message = 'x'.repeat(1025);
    object.status = { attached: false, attachError: { message } };
    expect(volumeattachments.strategy.validate?.(object).map(({ field }) => field)).toEqual([
      'status.attachError.message',
    ]);
  });
});
