import type {
  CSIVolumeSource,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  EphemeralVolumeSource,
  ISCSIVolumeSource,
  KeyToPath,
  LocalObjectReference,
  PersistentVolumeClaimTemplate,
  StorageOSVolumeSource,
  Volume,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { validateClaimSpec } from '../../core/persistent-volume-claim/validate.ts';
import { mustBeLabels } from '../../rules/labels.ts';
import { mustBeName, mustBeNamed } from '../../rules/name-rules.ts';
import * as disks from '../../rules/network-disks.ts';
import { mustBeWithin } from '../../rules/numbers.ts';
import { validateAnnotations } from './annotations.ts';
import { mustBeFileMode, mustDescend, mustNotClimb } from './file-paths.ts';
import { validateDownwardFile, validateKeyToPath, validateProjected } from './projected-volume.ts';

export type VolumeKind = Exclude<keyof Volume, 'name'>;

/** Rules of one kind of volume. Its type requires further fields. */
type SourceRule<Kind extends VolumeKind> = (at: FieldPath, source: NonNullable<Volume[Kind]>) => void;

/** In order of precedence: of two sources, the second is refused. */
const RULES: { readonly [Kind in VolumeKind]: SourceRule<Kind> } = {
  emptyDir: validateEmptyDir,
  hostPath: (at, { path = '' }) => mustNotClimb(at.field('path'), path),
  gitRepo: (at, { directory = '' }) => mustDescend(at.field('directory'), directory),
  gcePersistentDisk: disks.validatePartition,
  awsElasticBlockStore: disks.validatePartition,
  secret: (at, source) => validateKeyedFiles(at, source, 'secretName'),
  nfs: disks.validateNfs,
  iscsi: validateIscsi,
  glusterfs: () => undefined,
  flocker: disks.validateFlocker,
  persistentVolumeClaim: () => undefined,
  rbd: disks.validateMonitors,
  cinder: mustNameSecret,
  cephfs: disks.validateMonitors,
  quobyte: disks.validateQuobyteRegistry,
  downwardAPI: validateDownwardApi,
  fc: disks.validateFibreChannel,
  flexVolume: disks.validateFlexOptions,
  configMap: (at, source) => validateKeyedFiles(at, source, 'name'),
  azureFile: () => undefined,
  vsphereVolume: () => undefined,
  photonPersistentDisk: () => undefined,
  portworxVolume: () => undefined,
  azureDisk: disks.validateAzureDiskUri,
  storageos: validateStorageOs,
  projected: validateProjected,
  scaleIO: (at, { volumeName = '' }) => mustBeText(at.field('volumeName'), volumeName),
  csi: validateCsi,
  ephemeral: validateEphemeral,
  image: (at, { pullPolicy = '' }) => mustBeText(at.field('pullPolicy'), pullPolicy),
};

export const VOLUME_KINDS = Object.keys(RULES) as readonly VolumeKind[];

export const isVolumeKind = (field: string): field is VolumeKind => Object.hasOwn(RULES, field);

/** The source of a volume that has one of this kind. */
export function validateSource<Kind extends VolumeKind>(at: FieldPath, volume: Volume, kind: Kind): void {
  const source = volume[kind];
  if (source !== undefined) RULES[kind](at, source);
}

function mustBeText(at: FieldPath, value: string): void {
  if (value === '') at.required();
}

function validateEmptyDir(at: FieldPath, { sizeLimit = '' }: EmptyDirVolumeSource): void {
  if (sizeLimit.startsWith('-'))
    at.field('sizeLimit').forbidden('SizeLimit field must be a valid resource quantity');
}

interface KeyedFiles {
  readonly name?: string;
  readonly secretName?: string;
  readonly defaultMode?: number;
  readonly items?: KeyToPath[];
}

function validateKeyedFiles(at: FieldPath, source: KeyedFiles, nameField: 'name' | 'secretName'): void {
  mustBeText(at.field(nameField), source[nameField] ?? '');
  mustBeFileMode(at.field('defaultMode'), source.defaultMode);
  for (const [item, file] of at.field('items').each(source.items)) validateKeyToPath(item, file);
}

function validateDownwardApi(at: FieldPath, { defaultMode, items = [] }: DownwardAPIVolumeSource): void {
  mustBeFileMode(at.field('defaultMode'), defaultMode);
  for (const file of items) validateDownwardFile(at, file);
}

function validateEphemeral(at: FieldPath, { volumeClaimTemplate }: EphemeralVolumeSource): void {
  const path = at.field('volumeClaimTemplate');
  if (volumeClaimTemplate === undefined) path.required();
  else validateClaimTemplate(path, volumeClaimTemplate);
}

const MAX_DRIVER_BYTES = 63;

function validateCsi(at: FieldPath, { driver = '', nodePublishSecretRef: secret }: CSIVolumeSource): void {
  mustBeName(at.field('driver'), driver.toLowerCase(), 'dns-subdomain');
  if (driver.length > MAX_DRIVER_BYTES) at.field('driver').tooLong(MAX_DRIVER_BYTES);
  if (secret === undefined) return;
  const { name = '' } = secret;
  if (name === '') at.field('nodePublishSecretRef').field('name').required();
  else mustBeName(at.field('name'), name, 'dns-subdomain');
}

/** The claim that is made for an ephemeral volume: it gets its name and place from the pod. */
function validateClaimTemplate(
  at: FieldPath,
  { metadata = {}, spec = {} }: PersistentVolumeClaimTemplate,
): void {
  const { labels, annotations = {}, ...others } = metadata;
  const path = at.field('metadata');
  validateAnnotations(path.field('annotations'), annotations);
  mustBeLabels(path.field('labels'), labels);
  for (const [field, value] of Object.entries(others))
    if (value !== undefined && value !== null) path.field(field).forbidden('cannot be set');
  validateClaimSpec(at.field('spec'), spec);
}

/** Disks over the network, as far as persistent volumes have other rules for them. */

/** A secret that is referred to must be named. */
function mustNameSecret(at: FieldPath, { secretRef }: { readonly secretRef?: LocalObjectReference }): void {
  if (secretRef !== undefined && (secretRef.name ?? '') === '')
    at.field('secretRef').field('name').required();
}

const INITIATORS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};

const LUNS = { least: 0, most: 255 };

function validateIscsi(at: FieldPath, source: ISCSIVolumeSource): void {
  const { iqn = '', lun, initiatorName, secretRef } = source;
  const isAuthenticated = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (iqn !== '') mustBeInitiator(at.field('iqn'), iqn);
  mustBeWithin(at.field('lun'), lun, LUNS);
  if (isAuthenticated && secretRef === undefined) at.field('secretRef').required();
  if (initiatorName !== undefined) mustBeInitiator(at.field('initiatorname'), initiatorName);
}

function mustBeInitiator(at: FieldPath, name: string): void {
  const pattern = INITIATORS[name.slice(0, 3)];
  if (pattern === undefined) at.invalid(name, 'must be valid format starting with iqn, eui, or naa');
  else if (!pattern.test(name)) at.invalid(name, 'must be valid format');
}

function validateStorageOs(at: FieldPath, source: StorageOSVolumeSource): void {
  const { volumeName = '', volumeNamespace = '' } = source;
  mustBeNamed(at.field('volumeName'), volumeName, 'dns-label');
  if (volumeNamespace !== '') mustBeName(at.field('volumeNamespace'), volumeNamespace, 'dns-label');
  mustNameSecret(at, source);
}
