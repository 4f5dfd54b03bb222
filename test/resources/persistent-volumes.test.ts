import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition, ViewSubresource } from '../../src/registry/resource-definition.ts';
import { persistentvolumes } from '../../src/resources/core/persistent-volume/definition.ts';
import { persistentvolumeclaims } from '../../src/resources/core/persistent-volume-claim/definition.ts';
import { created, gatedFields, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';

const NOW = Date.parse('2024-08-13T12:00:00Z');
const warnings = (definition: ResourceDefinition, manifest: JsonObject): string[] =>
  definition.strategy.warnings?.(created(definition, manifest), undefined) ?? [];

function statusView(definition: ResourceDefinition): ViewSubresource {
  const view = definition.subresources.find(({ name }) => name === 'status');
  if (view?.access !== 'view') throw new Error('no status');
  return view;
}

const csi = { driver: 'csi.example.com', volumeHandle: 'h1' };
const base = { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'] };
const volume = (spec: JsonObject): JsonObject => ({ spec: { ...base, ...spec } });
const affinity = (key: string, operator = 'In', values = ['a']) => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator, values }] }] },
});

describe('persistent volumes', () => {
  const good = volume({ csi, storageClassName: 'fast', claimRef: { namespace: 'default', name: 'data' } });

  test('a good one has no problems, is pending and is kept when let go', () => {
    expect(problemsOnCreate(persistentvolumes, good)).toEqual([]);
    const object = created(persistentvolumes, { ...good, status: { phase: 'Bound' } });
    expect(object.status).toEqual({ phase: 'Pending' });
    expect(object.spec).toMatchObject({ persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
  });

  test.each<[string, JsonObject]>([
    ['hostPath', { path: '/data' }],
    ['gcePersistentDisk', { pdName: 'd' }],
    ['awsElasticBlockStore', { volumeID: 'v', partition: 1 }],
    ['glusterfs', { endpoints: 'e', path: 'p', endpointsNamespace: 'ns' }],
    ['flocker', { datasetName: 'd' }],
    ['nfs', { server: 's', path: '/export' }],
    ['rbd', { monitors: ['m'], image: 'i' }],
    ['quobyte', { registry: 'a:1,[::1]:2', volume: 'v' }],
    ['cephfs', { monitors: ['m'] }],
    ['iscsi', { targetPortal: '10.0.0.1', iqn: 'iqn.2015-02.example.com:test', lun: 0 }],
    ['cinder', { volumeID: 'v', secretRef: { name: 'a', namespace: 'b' } }],
    ['fc', { targetWWNs: ['w'], lun: 1 }],
    ['flexVolume', { driver: 'd', options: { 'example.com/a': 'b' } }],
    ['azureFile', { secretName: 's', shareName: 'h' }],
    ['vsphereVolume', { volumePath: 'p' }],
    ['photonPersistentDisk', { pdID: 'p' }],
    ['portworxVolume', { volumeID: 'v' }],
    ['azureDisk', { diskName: 'd', diskURI: 'https://a.blob.core.windows.net/c/d.vhd' }],
    ['scaleIO', { gateway: 'g', system: 's', volumeName: 'v', secretRef: { name: 'n' } }],
    ['storageos', { volumeName: 'v' }],
    ['csi', { ...csi, controllerExpandSecretRef: { name: 'a', namespace: 'b' } }],
  ])('%s is a source', (field, source) => {
    expect(problemsOnCreate(persistentvolumes, volume({ [field]: source }))).toEqual([]);
  });

  test('a local volume says on which node it is', () => {
    const local = { path: '/mnt/disk' };
    expect(
      problemsOnCreate(
        persistentvolumes,
        volume({ local, nodeAffinity: affinity('kubernetes.io/hostname') }),
      ),
    ).toEqual([]);
    expect(problemsOnCreate(persistentvolumes, volume({ local }))).toEqual([
      'spec.nodeAffinity: Required value: Local volume requires node affinity',
    ]);
  });

  test.each<[string, JsonObject, string[]]>([
    ['no source', {}, ['spec: Required value: must specify a volume type']],
    [
      'two sources',
      { csi, nfs: { server: 's', path: '/' } },
      ['spec.csi: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'a path that leads out',
      { hostPath: { path: '/a/../b' } },
      ['spec.hostPath.path: Invalid value: "/a/../b": must not contain \'..\''],
    ],
    [
      'a partition there cannot be',
      { gcePersistentDisk: { pdName: 'd', partition: 256 } },
      ['spec.persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive'],
    ],
    [
      'a relative export',
      { nfs: { server: 's', path: 'x' } },
      ['spec.nfs.path: Invalid value: "x": must be an absolute path'],
    ],
    ['no monitors', { rbd: { image: 'i' } }, ['spec.rbd.monitors: Required value']],
    [
      'a dataset named twice',
      { flocker: { datasetName: 'a/b', datasetUUID: 'u' } },
      [
        'spec.flocker.datasetName: Invalid value: "a/b": must not contain \'/\'',
        'spec.flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously',
      ],
    ],
    [
      'a registry without a port',
      { quobyte: { registry: 'host', volume: 'v' } },
      [
        'spec.quobyte.registry: Invalid value: "host": must be a host:port pair or multiple pairs separated by commas',
      ],
    ],
    [
      'an iSCSI target that is none',
      {
        iscsi: {
          targetPortal: 'x'.repeat(64),
          iqn: 'iqn.2015.example',
          lun: 256,
          chapAuthSession: true,
          initiatorName: 'me',
        },
      },
      [
        'spec.iscsi.initiatorname: Invalid value: "me": must be valid format',
        'spec.iscsi.iqn: Invalid value: "iqn.2015.example": must be valid format',
        'spec.iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
        'spec.iscsi.secretRef: Required value',
        `spec.iscsi.targetportal: Invalid value: "${'x'.repeat(64)}": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`,
      ],
    ],
    [
      'a Fibre Channel target without a lun',
      { fc: { targetWWNs: ['w'] } },
      ['spec.fc.lun: Required value: lun is required if targetWWNs is specified'],
    ],
    [
      'half a secret',
      { cinder: { volumeID: 'v', secretRef: { name: 'a' } } },
      ['spec.cinder.secretRef.namespace: Required value'],
    ],
    [
      'options in the name of Kubernetes',
      { flexVolume: { driver: 'd', options: { 'a.k8s.io/b': 'c' } } },
      [
        'spec.flexVolume.options[a.k8s.io/b]: Invalid value: "a.k8s.io/b": kubernetes.io and k8s.io namespaces are reserved',
      ],
    ],
    [
      'a managed disk that is a blob',
      { azureDisk: { diskName: 'd', diskURI: 'https://x', kind: 'Managed' } },
      [
        'spec.azureDisk.diskURI: Unsupported value: "https://x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
      ],
    ],
    [
      'a driver without a handle, its secret without a namespace',
      { csi: { driver: 'CSI.example.com', nodePublishSecretRef: { name: 'a' } } },
      ['spec.csi.nodePublishSecretRef.namespace: Required value', 'spec.csi.volumeHandle: Required value'],
    ],
    [
      'no size and no mode',
      { csi, capacity: {}, accessModes: [] },
      [
        'spec.accessModes: Required value',
        'spec.capacity: Required value',
        'spec.capacity: Unsupported value: {}: supported values: "storage"',
      ],
    ],
    [
      'no room at all',
      { csi, capacity: { storage: '0' } },
      ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      'the mode of a single pod with another',
      { csi, accessModes: ['ReadWriteOncePod', 'ReadOnlyMany', 'Mine'] },
      [
        'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
        'spec.accessModes: Unsupported value: "Mine": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
      ],
    ],
    [
      'recycling a whole node',
      { hostPath: { path: '/./' }, persistentVolumeReclaimPolicy: 'Recycle' },
      ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
    ],
    [
      'nodes selected by nothing',
      { csi, nodeAffinity: { required: { nodeSelectorTerms: [] } } },
      [
        'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
      ],
    ],
    [
      'nodes selected wrongly',
      { csi, nodeAffinity: affinity('zone', 'Exists') },
      [
        "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      ],
    ],
  ])('%s is refused', (_, spec, problems) => {
    expect(problemsOnCreate(persistentvolumes, volume(spec))).toEqual(problems);
  });

  test('options of mounts are for what is mounted', () => {
    const metadata = { annotations: { 'volume.beta.kubernetes.io/mount-options': 'ro' } };
    const nfs = { server: 's', path: '/' };
    expect(problemsOnCreate(persistentvolumes, { metadata, ...volume({ nfs }) })).toEqual([]);
    expect(problemsOnCreate(persistentvolumes, { metadata, ...good })).toEqual([
      'metadata.annotations.volume.beta.kubernetes.io/mount-options: Forbidden: may not specify mount options for this volume type',
    ]);
  });

  test('size, class and claim change; where the data is does not', () => {
    const changed = volume({ csi, capacity: { storage: '20Gi' }, persistentVolumeReclaimPolicy: 'Delete' });
    expect(problemsOnUpdate(persistentvolumes, good, changed)).toEqual([]);
    const moved = volume({ csi: { ...csi, volumeHandle: 'h2' }, volumeMode: 'Block' });
    expect(problemsOnUpdate(persistentvolumes, good, moved)).toEqual([
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
      'volumeMode: Invalid value: "Block": field is immutable',
    ]);
  });

  test('the secret for expansion is added once', () => {
    const secret = (name: string) =>
      volume({ csi: { ...csi, controllerExpandSecretRef: { name, namespace: 'b' } } });
    expect(problemsOnUpdate(persistentvolumes, volume({ csi }), secret('a'))).toEqual([]);
    expect(problemsOnUpdate(persistentvolumes, secret('a'), secret('b'))).toHaveLength(1);
    expect(problemsOnUpdate(persistentvolumes, secret('a'), volume({ csi }))).toHaveLength(1);
  });

  test('an affinity is set once, but its labels may take their final names', () => {
    const on = (key: string, value = 'a') => volume({ csi, nodeAffinity: affinity(key, 'In', [value]) });
    const beta = on('failure-domain.beta.kubernetes.io/zone');
    expect(problemsOnUpdate(persistentvolumes, volume({ csi }), beta)).toEqual([]);
    expect(problemsOnUpdate(persistentvolumes, beta, on('topology.kubernetes.io/zone'))).toEqual([]);
    expect(problemsOnUpdate(persistentvolumes, beta, on('topology.kubernetes.io/zone', 'b'))[0]).toMatch(
      /^nodeAffinity: .*field is immutable, except for updating from beta label to GA$/,
    );
    expect(problemsOnUpdate(persistentvolumes, beta, volume({ csi }))).toHaveLength(1);
  });

  test('what is old or gone is warned of', () => {
    expect(
      warnings(persistentvolumes, {
        metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } },
        ...volume({
          rbd: { monitors: ['m'], image: 'i' },
          persistentVolumeReclaimPolicy: 'Recycle',
          nodeAffinity: affinity('beta.kubernetes.io/arch'),
        }),
      }),
    ).toEqual([
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
      'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
    ]);
  });

  test('the time of the last change of the phase is set for every writer', () => {
    const old: ApiObject = {
      ...created(persistentvolumes, good),
      status: { phase: 'Available', lastPhaseTransitionTime: '2020-01-01T00:00:00Z' },
    };
    const write = (status: JsonObject) => statusView(persistentvolumes).write({ ...old, status }, old).status;
    expect(write({ phase: 'Available' })).toEqual(old.status);
    expect(write({ phase: 'Bound', lastPhaseTransitionTime: '2021-01-01T00:00:00Z' })).toEqual({
      phase: 'Bound',
      lastPhaseTransitionTime: '2021-01-01T00:00:00Z',
    });
    expect(write({})).toMatchObject({ phase: 'Pending' });
    expect(write({ phase: 'Bound' })).toEqual({
      phase: 'Bound',
      lastPhaseTransitionTime: expect.stringMatching(/^20[2-9]\d-.*Z$/),
    });
  });

  test('the table shows the claim, the modes in their order, and the old annotation first', () => {
    const object = created(persistentvolumes, {
      metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
      ...volume({
        csi,
        accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
        claimRef: { namespace: 'default', name: 'data' },
        storageClassName: 'new',
      }),
    });
    expect(persistentvolumes.cells(object, NOW)).toEqual([
      'it',
      '10Gi',
      'RWO,RWX',
      'Retain',
      'Pending',
      'default/data',
      'old',
      '<unset>',
      '',
      '<unknown>',
      'Filesystem',
    ]);
  });
});

describe('persistent volume claims', () => {
  const requests = (storage: string) => ({ requests: { storage } });
  const claim = (spec: JsonObject): JsonObject => ({
    spec: { accessModes: ['ReadWriteOnce'], resources: requests('1Gi'), ...spec },
  });
  const good = claim({ storageClassName: 'fast', selector: { matchLabels: { a: 'b' } } });
  const spec = (manifest: JsonObject) => created(persistentvolumeclaims, manifest).spec;

  test('a good one has no problems and is pending', () => {
    expect(problemsOnCreate(persistentvolumeclaims, good)).toEqual([]);
    expect(created(persistentvolumeclaims, { ...good, status: { phase: 'Bound' } }).status).toEqual({
      phase: 'Pending',
    });
  });

  test.each<[string, JsonObject, string[]]>([
    [
      'nothing',
      { accessModes: [], resources: {} },
      [
        'spec.accessModes: Required value: at least 1 access mode is required',
        'spec.resources[storage]: Required value',
      ],
    ],
    [
      'no room at all',
      { resources: requests('0') },
      ['spec.resources[storage]: Invalid value: "0": must be greater than zero'],
    ],
    [
      'a mode that is none',
      { volumeMode: 'Tape' },
      ['spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
    ],
    [
      'a wrong selector',
      { selector: { matchExpressions: [{ key: 'a', operator: 'In', values: [] }] } },
      [
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
    [
      'a source of the core group that is no claim',
      { dataSourceRef: { kind: 'Pod', name: 'p' } },
      [
        'spec.dataSource: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
        'spec.dataSourceRef: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
      ],
    ],
    [
      'two sources that differ',
      {
        dataSource: { kind: 'PersistentVolumeClaim', name: 'a' },
        dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
      },
      ['spec: Invalid value: "spec.dataSource": must match dataSourceRef'],
    ],
  ])('%s is refused', (_, change, problems) => {
    expect(problemsOnCreate(persistentvolumeclaims, claim(change))).toEqual(problems);
  });

  test('either field of the source fills the other', () => {
    const source = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' };
    expect(spec(claim({ dataSource: source }))).toMatchObject({ dataSourceRef: source });
    expect(spec(claim({ dataSourceRef: source }))).toMatchObject({ dataSource: source });
  });

  test('what the old field never took is dropped, and so are fields of features that are off', () => {
    const foreign = { apiGroup: 'example.com', kind: 'Backup', name: 'b' };
    expect(spec(claim({ dataSource: foreign }))).not.toHaveProperty('dataSource');
    expect(spec(claim({ dataSourceRef: foreign }))).toMatchObject({ dataSource: foreign });
    expect(spec(claim({ dataSourceRef: { ...foreign, namespace: 'x' } }))).not.toHaveProperty(
      'dataSourceRef',
    );
    expect(spec(claim({ volumeAttributesClassName: 'a' }))).not.toHaveProperty('volumeAttributesClassName');
  });

  describe('updates', () => {
    const IMMUTABLE =
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    /** An update of a claim that is bound. */
    function problemsWhenBound(before: JsonObject, after: JsonObject): string[] {
      const old = { ...created(persistentvolumeclaims, before), status: { phase: 'Bound' } };
      const object = { ...created(persistentvolumeclaims, after), status: { phase: 'Bound' } };
      return (persistentvolumeclaims.strategy.validateUpdate?.(object, old) ?? []).map(
        ({ field, message }) => `${field}: ${message}`,
      );
    }

    test('the volume is named once', () => {
      const bound = claim({ storageClassName: 'fast', volumeName: 'pv1' });
      const free = claim({ storageClassName: 'fast' });
      expect(problemsOnUpdate(persistentvolumeclaims, free, bound)).toEqual([]);
      const other = claim({ storageClassName: 'fast', volumeName: 'pv2' });
      expect(problemsOnUpdate(persistentvolumeclaims, bound, other)).toEqual([IMMUTABLE]);
    });

    test('a bound claim grows and never shrinks; one that is not bound does neither', () => {
      const bigger = claim({ resources: requests('2Gi') });
      expect(problemsWhenBound(claim({}), bigger)).toEqual([]);
      expect(problemsWhenBound(bigger, claim({}))).toEqual([
        'spec.resources.requests.storage: Forbidden: field can not be less than previous value',
      ]);
      expect(problemsOnUpdate(persistentvolumeclaims, claim({}), bigger)).toEqual([IMMUTABLE]);
    });

    test('the same size in other units is the same', () => {
      const bytes = claim({ resources: requests('1073741824') });
      expect(problemsOnUpdate(persistentvolumeclaims, claim({}), bytes)).toEqual([]);
    });

    test('modes do not change', () => {
      const block = claim({ volumeMode: 'Block' });
      expect(problemsOnUpdate(persistentvolumeclaims, claim({}), block)).toEqual([
        IMMUTABLE,
        'volumeMode: Invalid value: "Block": field is immutable',
      ]);
    });

    test('a claim without a class gets one later, and keeps it', () => {
      const named = (storageClassName: string) => claim({ storageClassName });
      expect(problemsOnUpdate(persistentvolumeclaims, claim({}), named('a'))).toEqual([]);
      expect(problemsOnUpdate(persistentvolumeclaims, named('a'), named('b'))).toEqual([IMMUTABLE]);
      expect(problemsOnUpdate(persistentvolumeclaims, named('a'), claim({}))).toEqual([IMMUTABLE]);
    });

    test('the annotation of the class becomes the field, and is nothing else', () => {
      const key = 'volume.beta.kubernetes.io/storage-class';
      const annotated = { metadata: { annotations: { [key]: 'a' } }, ...claim({}) };
      const named = (storageClassName: string) => claim({ storageClassName });
      expect(problemsOnUpdate(persistentvolumeclaims, annotated, named('a'))).toEqual([]);
      expect(problemsOnUpdate(persistentvolumeclaims, annotated, named('b'))).toEqual([
        `metadata.annotations.${key}: Invalid value: "": field is immutable`,
        IMMUTABLE,
      ]);
    });
  });

  test('fractions of bytes and old annotations are warned of', () => {
    expect(
      warnings(persistentvolumeclaims, {
        metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } },
        ...claim({ resources: requests('1500m') }),
      }),
    ).toEqual([
      'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
      'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer',
    ]);
  });

  test('a status has no negative capacity and nothing of features that are off', () => {
    const old = created(persistentvolumeclaims, good);
    const view = statusView(persistentvolumeclaims);
    expect(view.write({ ...old, status: {} }, old).status).toEqual({ phase: 'Pending' });
    const status = { phase: 'Bound', capacity: { storage: '-1' }, allocatedResources: { storage: '1' } };
    const object = view.write({ ...old, status }, old);
    gatedFields.drop(persistentvolumeclaims, object, old);
    expect(object.status).toEqual({ phase: 'Bound', capacity: { storage: '-1' } });
    expect(view.validate?.(object, old)).toEqual([
      {
        type: 'FieldValueInvalid',
        field: 'status.capacity[storage]',
        message: 'Invalid value: "-1": must be a valid resource quantity',
      },
    ]);
  });

  test('the table shows what is bound, and the end of what is being deleted', () => {
    const object = created(persistentvolumeclaims, claim({ storageClassName: 'fast', volumeName: 'pv1' }));
    object.status = { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] };
    const cells = ['Bound', 'pv1', '1Gi', 'RWO', 'fast', '<unset>', '<unknown>', 'Filesystem'];
    expect(persistentvolumeclaims.cells(object, NOW)).toEqual(['it', ...cells]);
    object.metadata.deletionTimestamp = '2024-08-13T12:00:00Z';
    expect(persistentvolumeclaims.cells(object, NOW)[1]).toBe('Terminating');
  });
});
