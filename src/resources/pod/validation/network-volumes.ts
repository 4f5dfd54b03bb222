import type {
  AzureDiskVolumeSource,
  FCVolumeSource,
  ISCSIVolumeSource,
  LocalObjectReference,
  NFSVolumeSource,
  StorageOSVolumeSource,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustBeName, mustBeNamed } from '../../rules/names.ts';
import { mustBeWithin } from '../../rules/numbers.ts';

/** Volumes that are somewhere else: file servers, and disks over the network. */

export function validateNfs(at: FieldPath, { path = '' }: NFSVolumeSource): void {
  if (!path.startsWith('/')) at.field('path').invalid(path, 'must be an absolute path');
}

export function validateMonitors(at: FieldPath, { monitors }: { readonly monitors?: string[] | null }): void {
  if ((monitors ?? []).length === 0) at.field('monitors').required();
}

/** A secret that is referred to must be named. */
export function mustNameSecret(
  at: FieldPath,
  { secretRef }: { readonly secretRef?: LocalObjectReference },
): void {
  if (secretRef !== undefined && (secretRef.name ?? '') === '')
    at.field('secretRef').field('name').required();
}

const INITIATORS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9\-.]+)(:[^,;*&$|\s]+)$/,
  eui: /^eui.[a-zA-Z0-9]{16}$/,
  naa: /^naa.[a-zA-Z0-9]{32}$/,
};

const LUNS = { least: 0, most: 255 };

export function validateIscsi(at: FieldPath, source: ISCSIVolumeSource): void {
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

export function validateFibreChannel(at: FieldPath, source: FCVolumeSource): void {
  const { targetWWNs = [], wwids = [], lun } = source;
  const targets = at.field('targetWWNs');
  if (targetWWNs.length === 0 && wwids.length === 0)
    targets.required('must specify either targetWWNs or wwids, but not both');
  if (targetWWNs.length > 0 && wwids.length > 0)
    targets.invalid(targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  if (targetWWNs.length === 0) return;
  if (lun === undefined) at.field('lun').required('lun is required if targetWWNs is specified');
  mustBeWithin(at.field('lun'), lun, LUNS);
}

const MANAGED_URIS = [
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
];
const BLOB_URIS = ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'];

export function validateAzureDisk(at: FieldPath, { kind, diskURI = '' }: AzureDiskVolumeSource): void {
  if (kind === undefined) return;
  const isManaged = kind === 'Managed';
  if (diskURI.startsWith(isManaged ? '/subscriptions/' : 'https://')) return;
  at.field('diskURI').notSupported(diskURI, isManaged ? MANAGED_URIS : BLOB_URIS);
}

export function validateStorageOs(at: FieldPath, source: StorageOSVolumeSource): void {
  const { volumeName = '', volumeNamespace = '' } = source;
  mustBeNamed(at.field('volumeName'), volumeName, 'dns-label');
  if (volumeNamespace !== '') mustBeName(at.field('volumeNamespace'), volumeNamespace, 'dns-label');
  mustNameSecret(at, source);
}
