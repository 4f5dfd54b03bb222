import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, required, tooLong } from '../../../object/field-errors.ts';
import { checkQualifiedName } from '../../../object/formats.ts';
import { text } from '../../../object/parts.ts';

/** What classes of storage have in common: who provides it, and with which parameters. */

const MAX_PARAMETERS = 512;
const MAX_PARAMETERS_BYTES = 256 * 1024;

export function validateProvisioner(provisioner: string, path: string): FieldError[] {
  if (provisioner === '') return [required(path)];
  const name = provisioner.toLowerCase();
  return eachInvalid(path, name, checkQualifiedName(name));
}

export function validateParameters(parameters: JsonObject, path: string): FieldError[] {
  const entries = Object.entries(parameters);
  if (entries.length > MAX_PARAMETERS) return [tooLong(path, MAX_PARAMETERS)];
  const unnamed = entries.filter(([key]) => key === '');
  const sizeBytes = sizeOfEntries(parameters);
  return [
    ...unnamed.map(([key]) => invalidValue(path, key, 'field can not be empty.')),
    ...(sizeBytes > MAX_PARAMETERS_BYTES ? [tooLong(path, MAX_PARAMETERS_BYTES)] : []),
  ];
}

/** Keys and values of a map of texts, in bytes. */
export function sizeOfEntries(map: JsonObject): number {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(map)) {
    sizeBytes += Buffer.byteLength(key) + Buffer.byteLength(text(value));
  }
  return sizeBytes;
}
