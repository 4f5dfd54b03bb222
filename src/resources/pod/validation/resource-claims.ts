import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { duplicate, invalidValue, required } from '../../../object/field-errors.ts';
import { text } from '../../../object/parts.ts';
import { addName, eachAt } from '../../validation/values.ts';

const REFERENCES = ['resourceClaimName', 'resourceClaimTemplateName'];

/** Devices the pod uses: claims that exist, or are made for it. */
export function validateResourceClaims(
  claims: readonly JsonObject[],
  path: string,
  errors: FieldError[],
): void {
  const names = new Set<string>();
  eachAt(claims, path, (claim, at) => {
    const given = REFERENCES.filter((field) => claim[field] !== undefined);
    validateClaimName(text(claim.name), `${at}.name`, names, errors);
    if (given.length > 1) {
      const why = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.push(invalidValue(at, claim, why));
    }
    if (given.length === 0) {
      const why = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
      errors.push(invalidValue(at, claim, why));
    }
    for (const field of given) addName(errors, `${at}.${field}`, text(claim[field]), 'dns-subdomain');
  });
}

function validateClaimName(name: string, path: string, seen: Set<string>, errors: FieldError[]): void {
  if (name === '') errors.push(required(path));
  else if (seen.has(name)) errors.push(duplicate(path, name));
  else {
    seen.add(name);
    addName(errors, path, name, 'dns-label');
  }
}
