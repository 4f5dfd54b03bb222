import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { invalidValue, required } from '../../../object/field-errors.ts';
import { problemsOf } from '../../../object/field-path.ts';
import { count, text } from '../../../object/parts.ts';
import { mustNotClimb } from '../../pod/validation/paths.ts';
import { requireField } from './required-fields.ts';

const MAX_PARTITION = 255;

export function validateHostPath(source: JsonObject, path: string): FieldError[] {
  return validatePath(source, path);
}

export function validateLocal(source: JsonObject, path: string): FieldError[] {
  return validatePath(source, path);
}

function validatePath(source: JsonObject, path: string): FieldError[] {
  const target = text(source.path);
  return target === ''
    ? [required(`${path}.path`)]
    : problemsOf((at) => mustNotClimb(at, target), `${path}.path`);
}

/** Disks of clouds: the disk by an id of the cloud's, and perhaps one partition of it; 0 means the whole disk. */
export function validateCloudDisk(source: JsonObject, idField: string, path: string): FieldError[] {
  const partition = count(source.partition);
  const outside = partition < 0 || partition > MAX_PARTITION;
  const why = `must be between 1 and ${MAX_PARTITION}, inclusive`;
  return [
    ...requireField(source, idField, path),
    ...(outside ? [invalidValue(`${path}.partition`, partition, why)] : []),
  ];
}
