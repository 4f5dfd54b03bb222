import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { required } from '../../../object/field-errors.ts';
import { text } from '../../../object/parts.ts';

export const requireField = (holder: JsonObject, field: string, path: string): FieldError[] =>
  text(holder[field]) === '' ? [required(`${path}.${field}`)] : [];

export const requireFields = (holder: JsonObject, fields: readonly string[], path: string): FieldError[] =>
  fields.flatMap((field) => requireField(holder, field, path));

/** A list that must have an item. */
export function requireItems(holder: JsonObject, field: string, path: string): FieldError[] {
  const value = holder[field];
  return Array.isArray(value) && value.length > 0 ? [] : [required(`${path}.${field}`)];
}
