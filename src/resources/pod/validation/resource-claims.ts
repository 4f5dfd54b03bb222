import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, invalidValue, required } from '../../../object/field-errors.ts';
import { text } from '../../cells.ts';
import { each, validateName } from '../../validation/values.ts';

const REFERENCES = ['resourceClaimName', 'resourceClaimTemplateName'];

/** Devices the pod uses: claims that exist, or are made for it. */
export function validateResourceClaims(claims: readonly JsonObject[], path: string): FieldError[] {
  const names = new Set<string>();
  return each(claims, path, (claim, at) => {
    const given = REFERENCES.filter((field) => claim[field] !== undefined);
    const errors = validateClaimName(text(claim.name), `${at}.name`, names);
    if (given.length > 1) {
      const why = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.push(invalidValue(at, claim, why));
    }
    if (given.length === 0) {
      const why = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
      errors.push(invalidValue(at, claim, why));
    }
    const named = given.flatMap((field) =>
      validateName(`${at}.${field}`, text(claim[field]), 'dns-subdomain'),
    );
    return [...errors, ...named];
  });
}

function validateClaimName(name: string, path: string, seen: Set<string>): FieldError[] {
  if (name === '') return [required(path)];
  if (seen.has(name)) return [duplicate(path, name)];
  seen.add(name);
  return validateName(path, name, 'dns-label');
}
