import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { notSupported } from '../../../object/field-errors.ts';
import { text } from '../../../object/parts.ts';
import { requireFields } from './required-fields.ts';

const MANAGED_DISK =
  '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const BLOB_DISK = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export const validateAzureFile = (source: JsonObject, path: string): FieldError[] =>
  requireFields(source, ['secretName', 'shareName'], path);

/** The kind of a disk decides what its URI looks like. */
export function validateAzureDisk(source: JsonObject, path: string): FieldError[] {
  const errors = requireFields(source, ['diskName', 'diskURI'], path);
  const uri = text(source.diskURI);
  const managed = source.kind === 'Managed';
  return uri.startsWith(managed ? '/subscriptions/' : 'https://')
    ? errors
    : [...errors, notSupported(`${path}.diskURI`, uri, [managed ? MANAGED_DISK : BLOB_DISK])];
}
