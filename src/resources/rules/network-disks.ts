import type { AzureDiskVolumeSource, FCVolumeSource } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { mustBeWithin } from './numbers.ts';

/** Rules of network disks that volumes of pods and persistent volumes share. */

interface Flocker {
  readonly datasetName?: string;
  readonly datasetUUID?: string;
}

export function validateFlocker(at: FieldPath, { datasetName = '', datasetUUID = '' }: Flocker): void {
  if (datasetName === '' && datasetUUID === '') at.required('one of datasetName and datasetUUID is required');
  if (datasetName !== '' && datasetUUID !== '')
    at.invalid('resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (datasetName.includes('/')) at.field('datasetName').invalid(datasetName, "must not contain '/'");
}

interface Quobyte {
  readonly registry?: string;
  readonly tenant?: string;
}

const MAX_TENANT_CHARS = 64;
const HOST_PORT = /^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/;
const PAIRS = 'must be a host:port pair or multiple pairs separated by commas';

export function validateQuobyteRegistry(at: FieldPath, { registry = '', tenant = '' }: Quobyte): void {
  if (registry === '') {
    at.field('registry').required(PAIRS);
    return;
  }
  if (tenant.length > MAX_TENANT_CHARS) {
    at.field('tenant').required(
      `must be a UUID and may not exceed a length of ${MAX_TENANT_CHARS} characters`,
    );
    return;
  }
  for (const pair of registry.split(','))
    if (!HOST_PORT.test(pair)) at.field('registry').invalid(registry, PAIRS);
}

export function validateNfs(at: FieldPath, { path = '' }: { readonly path?: string }): void {
  if (!path.startsWith('/')) at.field('path').invalid(path, 'must be an absolute path');
}

export function validateMonitors(at: FieldPath, { monitors }: { readonly monitors?: string[] | null }): void {
  if ((monitors ?? []).length === 0) at.field('monitors').required();
}

const LUNS = { least: 0, most: 255 };

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

/** The URI's form depends on the kind of the Azure disk. */
const MANAGED_URIS = [
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}',
];
const BLOB_URIS = ['https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'];

export function validateAzureDiskUri(at: FieldPath, { kind, diskURI = '' }: AzureDiskVolumeSource): void {
  if (kind === undefined) return;
  const isManaged = kind === 'Managed';
  if (diskURI.startsWith(isManaged ? '/subscriptions/' : 'https://')) return;
  at.field('diskURI').notSupported(diskURI, isManaged ? MANAGED_URIS : BLOB_URIS);
}

const MAX_PARTITION = 255;

/** 0 means the whole disk, though the message omits it. */
export function validatePartition(at: FieldPath, { partition = 0 }: { readonly partition?: number }): void {
  if (partition < 0 || partition > MAX_PARTITION)
    at.field('partition').invalid(partition, `must be between 1 and ${MAX_PARTITION}, inclusive`);
}

const RESERVED_DOMAINS = /(^|\.)(kubernetes|k8s)\.io$/;

export function validateFlexOptions(
  at: FieldPath,
  { options }: { readonly options?: Readonly<Record<string, string>> },
): void {
  for (const [option, key] of at.field('options').entries(options))
    if (RESERVED_DOMAINS.test((key.split('/', 1)[0] ?? '').toLowerCase()))
      option.invalid(key, 'kubernetes.io and k8s.io namespaces are reserved');
}
