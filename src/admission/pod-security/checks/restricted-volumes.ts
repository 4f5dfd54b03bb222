import type { Volume } from '../../../api/types/core/v1.ts';
import { type Check, type FindViolation, named, plural, quoted, sorted } from '../check.ts';
import { hostPathVolumes } from './host.ts';

type VolumeType = Exclude<keyof Volume, 'name'>;

const ALLOWED: readonly VolumeType[] = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/** Volume types that reports name; a volume is named by its first one. */
const RESTRICTED: readonly VolumeType[] = [
  'hostPath',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'gitRepo',
  'nfs',
  'iscsi',
  'glusterfs',
  'rbd',
  'flexVolume',
  'cinder',
  'cephfs',
  'flocker',
  'fc',
  'azureFile',
  'vsphereVolume',
  'quobyte',
  'azureDisk',
  'photonPersistentDisk',
  'portworxVolume',
  'scaleIO',
  'storageos',
];

const typeAmong = (types: readonly VolumeType[], volume: Volume): VolumeType | undefined =>
  types.find((type) => volume[type] !== undefined);

const find: FindViolation = ({ spec }) => {
  const bad = (spec.volumes ?? []).filter((volume) => typeAmong(ALLOWED, volume) === undefined);
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => typeAmong(RESTRICTED, volume) ?? 'unknown'));
  const volumes = named(
    'volume',
    bad.map(({ name = '' }) => name),
  );
  const use = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'restricted volume types',
    detail: `${volumes} ${use} ${plural('restricted volume type', types.length)} ${quoted(types)}`,
  };
};

/** Only volumes that the cluster makes itself, or that a user with more rights has made. */
export const restrictedVolumes: Check = {
  id: 'restrictedVolumes',
  level: 'restricted',
  versions: [{ since: 0, find, overrides: [hostPathVolumes.id] }],
};
