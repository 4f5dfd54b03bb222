import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { problemsOnCreate } from '../kit/manifests.ts';
import { vary } from '../kit/variations.ts';
import { SMALL } from './pod-manifests.ts';

const withVolume = (source: JsonObject): string[] =>
  problemsOnCreate(pods, vary(SMALL, 'spec.volumes', [{ name: 'x', ...source }]));

const IQN = 'iqn.2001-04.com.example:storage';

test.each<[string, JsonObject]>([
  ['gcePersistentDisk', { pdName: 'a', partition: 1 }],
  ['awsElasticBlockStore', { volumeID: 'a' }],
  ['gitRepo', { repository: 'https://example.com/a.git', directory: 'a' }],
  ['nfs', { server: 'a', path: '/a' }],
  ['iscsi', { targetPortal: '10.0.0.1:3260', iqn: IQN, lun: 0, initiatorName: IQN }],
  ['glusterfs', { endpoints: 'a', path: 'b' }],
  ['flocker', { datasetName: 'a' }],
  ['rbd', { monitors: ['10.0.0.1'], image: 'a' }],
  ['cinder', { volumeID: 'a', secretRef: { name: 'b' } }],
  ['cephfs', { monitors: ['10.0.0.1'] }],
  ['quobyte', { registry: 'a:1,b:2', volume: 'c' }],
  ['downwardAPI', { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] }],
  ['fc', { targetWWNs: ['a'], lun: 2 }],
  ['fc', { wwids: ['a'] }],
  ['flexVolume', { driver: 'a/b', options: { 'example.com/a': 'b' } }],
  ['azureFile', { secretName: 'a', shareName: 'b' }],
  ['azureDisk', { diskName: 'a', diskURI: 'https://a.blob.core.windows.net/b/c.vhd' }],
  ['vsphereVolume', { volumePath: 'a' }],
  ['photonPersistentDisk', { pdID: 'a' }],
  ['portworxVolume', { volumeID: 'a' }],
  ['storageos', { volumeName: 'a', volumeNamespace: 'b' }],
  ['scaleIO', { gateway: 'a', system: 'b', secretRef: { name: 'c' }, volumeName: 'd' }],
  ['csi', { driver: 'a.example.com', nodePublishSecretRef: { name: 'b' } }],
  ['image', { reference: 'a:1' }],
])('a good volume of the kind %s is accepted: %j', (kind, source) => {
  expect(withVolume({ [kind]: source })).toEqual([]);
});

test.each<[string, JsonObject, string[]]>([
  [
    'gcePersistentDisk',
    { pdName: 'a', partition: 300 },
    ['.partition: Invalid value: 300: must be between 1 and 255, inclusive'],
  ],
  ['nfs', { server: 'a', path: 'a' }, ['.path: Invalid value: "a": must be an absolute path']],
  ['nfs', { path: '/a' }, ['.server: Required value']],
  [
    'iscsi',
    { targetPortal: 'a', iqn: 'iqn.wrong', lun: 256, chapAuthSession: true },
    [
      '.iqn: Invalid value: "iqn.wrong": must be valid format',
      '.lun: Invalid value: 256: must be between 0 and 255, inclusive',
      '.secretRef: Required value',
    ],
  ],
  [
    'iscsi',
    { targetPortal: 'a', iqn: 'abc', lun: 0 },
    ['.iqn: Invalid value: "abc": must be valid format starting with iqn, eui, or naa'],
  ],
  ['rbd', { image: 'a' }, ['.monitors: Required value']],
  ['flocker', {}, [': Required value: one of datasetName and datasetUUID is required']],
  [
    'quobyte',
    { registry: 'a', volume: 'b' },
    ['.registry: Invalid value: "a": must be a host:port pair or multiple pairs separated by commas'],
  ],
  ['fc', {}, ['.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both']],
  ['fc', { targetWWNs: ['a'] }, ['.lun: Required value: lun is required if targetWWNs is specified']],
  [
    'flexVolume',
    { driver: 'a', options: { 'k8s.io/a': 'b' } },
    ['.options[k8s.io/a]: Invalid value: "k8s.io/a": kubernetes.io and k8s.io namespaces are reserved'],
  ],
  [
    'azureDisk',
    { diskName: 'a', diskURI: 'b', kind: 'Managed' },
    [
      '.diskURI: Unsupported value: "b": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
    ],
  ],
  ['scaleIO', { gateway: 'a', system: 'b', secretRef: { name: 'c' } }, ['.volumeName: Required value']],
  ['csi', { driver: 'a'.repeat(64) }, ['.driver: Too long: must have at most 63 bytes']],
  [
    'emptyDir',
    { sizeLimit: '-1' },
    ['.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity'],
  ],
  [
    'configMap',
    { name: 'a', items: [{ key: 'a', path: '..a' }] },
    ['.items[0].path: Invalid value: "..a": must not start with \'..\''],
  ],
  [
    'downwardAPI',
    { items: [{ path: 'a', resourceFieldRef: { resource: 'limits.cpu' } }] },
    ['.resourceFieldRef.containerName: Required value'],
  ],
  [
    'downwardAPI',
    { items: [{ path: 'a', fieldRef: { fieldPath: 'status.podIP' } }] },
    [
      '.fieldRef.fieldPath: Unsupported value: "status.podIP": supported values: "metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"',
    ],
  ],
  [
    'projected',
    {
      sources: [
        { configMap: { name: 'a', items: [{ key: 'k', path: 'p' }] } },
        { secret: { name: 'b', items: [{ key: 'k', path: 'p' }] } },
      ],
    },
    [': Invalid value: "b": conflicting duplicate paths'],
  ],
  ['ephemeral', {}, ['.volumeClaimTemplate: Required value']],
])('a volume of the kind %s is refused: %j', (kind, source, problems) => {
  expect(withVolume({ [kind]: source })).toEqual(
    problems.map((problem) => `spec.volumes[0].${kind}${problem}`),
  );
});
