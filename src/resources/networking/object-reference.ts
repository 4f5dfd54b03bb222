import type { FieldPath } from '../../object/field-path.ts';
import { mustBeName } from '../rules/names.ts';

interface Reference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

/** An object of any kind, in the same namespace or in none. */
export function validateObjectReference(at: FieldPath, reference: Reference): void {
  const { apiGroup } = reference;
  if (apiGroup !== undefined) mustBeName(at.field('apiGroup'), apiGroup, 'dns-subdomain');
  for (const field of ['kind', 'name'] as const) {
    const value = reference[field] ?? '';
    if (value === '') at.field(field).required(`${field} is required`);
    else mustBeName(at.field(field), value, 'path-segment');
  }
}
