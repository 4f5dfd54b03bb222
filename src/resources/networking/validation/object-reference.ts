import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, required } from '../../../object/field-errors.ts';
import { checkName } from '../../../object/formats.ts';
import { text } from '../../../object/parts.ts';

/** An object of any kind, in the same namespace or in none. */
export function validateObjectReference(reference: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (reference.apiGroup !== undefined) {
    const group = text(reference.apiGroup);
    errors.push(...eachInvalid(`${path}.apiGroup`, group, checkName(group, 'dns-subdomain')));
  }
  for (const field of ['kind', 'name']) {
    const value = text(reference[field]);
    if (value === '') errors.push(required(`${path}.${field}`, `${field} is required`));
    else errors.push(...eachInvalid(`${path}.${field}`, value, checkName(value, 'path-segment')));
  }
  return errors;
}
