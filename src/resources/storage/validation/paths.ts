import type { FieldError } from '../../../api/status.ts';
import { invalidValue } from '../../../object/field-errors.ts';

/** No element `..`, which would lead out of what is mounted. */
export function validateNoBacksteps(target: string, path: string): FieldError[] {
  return target.split('/').includes('..') ? [invalidValue(path, target, "must not contain '..'")] : [];
}
