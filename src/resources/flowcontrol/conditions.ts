import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { required } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import { duplicates } from '../validation/fields.ts';

/** Conditions here have types that differ, and nothing else to check. */
export function validateConditionTypes(object: ApiObject): FieldError[] {
  const types = parts(part(object, 'status'), 'conditions').map(({ type }) => text(type));
  const pathOf = (at: number): string => `status.conditions[${at}].type`;
  return [
    ...types.flatMap((type, at) => (type === '' ? [required(pathOf(at), 'must not be empty')] : [])),
    ...duplicates(types, pathOf),
  ];
}
