import type { GangSchedulingPolicy, TypedLocalObjectReference } from '../../api/types/scheduling/v1alpha1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkName } from '../../object/text-formats.ts';
import { mustBeName } from '../rules/name-rules.ts';

/** How pods that belong together are placed. */

export const MAX_GROUPS = 8;

interface Policy {
  readonly basic?: object;
  readonly gang?: GangSchedulingPolicy;
}

const POLICIES = ['basic', 'gang'] as const;

/** Exactly one policy. */
export function validatePolicy<T extends Policy>(at: FieldPath, policy: T): void {
  const given = POLICIES.filter((name) => policy[name] !== undefined);
  if (given.length === 0 && at.minor < 36) at.required('exactly one of `basic`, `gang` is required');
  else if (given.length === 0) at.invalid('', 'must specify one of: `basic`, `gang`');
  else if (given.length > 1)
    at.invalid(
      `{${given.map((name) => `\`${name}\``).join(', ')}}`,
      'exactly one of `basic`, `gang` is required, but multiple fields are set',
    );
  else if (policy.gang !== undefined) validateGang(at.field('gang').field('minCount'), policy.gang);
}

function validateGang(at: FieldPath, { minCount = 0 }: GangSchedulingPolicy): void {
  if (at.minor < 36) {
    if (minCount <= 0) at.invalid(minCount, 'must be greater than zero');
  } else if (minCount === 0) at.required();
  else if (minCount < 0) at.invalid(minCount, 'must be greater than or equal to 1');
}

export function validateControllerRef(at: FieldPath, reference: TypedLocalObjectReference): void {
  const { apiGroup = '' } = reference;
  if (apiGroup !== '') mustBeName(at.field('apiGroup'), apiGroup, 'dns-subdomain');
  for (const field of ['kind', 'name'] as const) {
    const value = reference[field] ?? '';
    if (value === '') at.field(field).required();
    else at.field(field).invalidFor(value, checkName(value, 'path-segment'));
  }
}
