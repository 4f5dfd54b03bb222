import type {
  AzureDiskVolumeSource,
  FlexPersistentVolumeSource,
  PersistentVolumeSpec,
} from '../../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../../object/field-path.ts';
import { mustNotClimb } from '../../../pod/validation/paths.ts';
import * as disks from '../../../rules/network-disks.ts';
import { mustHaveTexts } from '../../../rules/required.ts';
import { validateCsi } from './csi.ts';
import { validateIscsi } from './iscsi.ts';
import * as network from './network.ts';

export type SourceKind = Exclude<
  keyof PersistentVolumeSpec,
  | 'accessModes'
  | 'capacity'
  | 'claimRef'
  | 'mountOptions'
  | 'nodeAffinity'
  | 'persistentVolumeReclaimPolicy'
  | 'storageClassName'
  | 'volumeAttributesClassName'
  | 'volumeMode'
>;

/** Rules of one kind of source. `volumeName` is empty for a volume inside another object. */
type SourceRule<Kind extends SourceKind> = (
  at: FieldPath,
  source: NonNullable<PersistentVolumeSpec[Kind]>,
  volumeName: string,
) => void;

/** In the order in which the first one counts. */
const RULES: { readonly [Kind in SourceKind]: SourceRule<Kind> } = {
  hostPath: validatePath,
  gcePersistentDisk: (at, source) => {
    mustHaveTexts(at, source, ['pdName']);
    disks.validatePartition(at, source);
  },
  awsElasticBlockStore: (at, source) => {
    mustHaveTexts(at, source, ['volumeID']);
    disks.validatePartition(at, source);
  },
  glusterfs: network.validateGlusterfs,
  flocker: disks.validateFlocker,
  nfs: (at, source) => {
    mustHaveTexts(at, source, ['server', 'path']);
    disks.validateNfs(at, source);
  },
  rbd: (at, source) => {
    disks.validateMonitors(at, source);
    mustHaveTexts(at, source, ['image']);
  },
  quobyte: (at, source) => {
    disks.validateQuobyteRegistry(at, source);
    mustHaveTexts(at, source, ['volume']);
  },
  cephfs: disks.validateMonitors,
  iscsi: validateIscsi,
  cinder: network.validateCinder,
  fc: disks.validateFibreChannel,
  flexVolume: validateFlexVolume,
  azureFile: (at, source) => mustHaveTexts(at, source, ['secretName', 'shareName']),
  vsphereVolume: (at, source) => mustHaveTexts(at, source, ['volumePath']),
  photonPersistentDisk: (at, source) => mustHaveTexts(at, source, ['pdID']),
  portworxVolume: (at, source) => mustHaveTexts(at, source, ['volumeID']),
  azureDisk: validateAzureDisk,
  scaleIO: (at, source) => mustHaveTexts(at, source, ['gateway', 'system', 'volumeName']),
  local: validatePath,
  storageos: network.validateStorageOs,
  csi: validateCsi,
};

export const SOURCE_KINDS = Object.keys(RULES) as readonly SourceKind[];

/** Exactly one source, and that one in order. */
export function validateSource(at: FieldPath, spec: PersistentVolumeSpec, volumeName: string): void {
  const given = SOURCE_KINDS.filter((kind) => spec[kind] !== undefined);
  if (given.length === 0) at.required('must specify a volume type');
  for (const [place, kind] of given.entries()) {
    // A flex volume beside another source is not refused, but only looked at.
    if (place > 0 && kind !== 'flexVolume')
      at.field(kind === 'cephfs' ? 'cephFS' : kind).forbidden('may not specify more than 1 volume type');
    else
      validateKind(at.field(kind === 'gcePersistentDisk' ? 'persistentDisk' : kind), spec, kind, volumeName);
    if (place === 0 && kind === 'local' && spec.nodeAffinity === undefined)
      at.field('nodeAffinity').required('Local volume requires node affinity');
  }
}

function validateKind<Kind extends SourceKind>(
  at: FieldPath,
  spec: PersistentVolumeSpec,
  kind: Kind,
  volumeName: string,
): void {
  const source = spec[kind];
  if (source !== undefined) RULES[kind](at, source, volumeName);
}

function validatePath(at: FieldPath, { path = '' }: { readonly path?: string }): void {
  if (path === '') at.field('path').required();
  else mustNotClimb(at.field('path'), path);
}

function validateAzureDisk(at: FieldPath, source: AzureDiskVolumeSource): void {
  mustHaveTexts(at, source, ['diskName', 'diskURI']);
  disks.validateAzureDiskUri(at, source);
}

function validateFlexVolume(at: FieldPath, source: FlexPersistentVolumeSource): void {
  mustHaveTexts(at, source, ['driver']);
  disks.validateFlexOptions(at, source);
}
