import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { part, parts } from '../../object/parts.ts';
import { type Ratchet, ratchetOf } from '../validation/ratchet.ts';

/** Expressions that nobody touches are not compiled anew: what they may use has changed, and will again. */
const unchanged = (field: RegExp, read: (object: ApiObject) => JsonObject[]): Ratchet => ({
  ...ratchetOf(field),
  allows: (old, object) => {
    const before = read(old);
    const after = read(object);
    return (
      before.length === after.length &&
      after.every((one, at) => equal(one.matchConditions, before[at]?.matchConditions))
    );
  },
});

export const WEBHOOK_RATCHETS: readonly Ratchet[] = [
  unchanged(/^webhooks\[\d+\]\.matchConditions/, (object) => parts(object, 'webhooks')),
  ratchetOf(/^webhooks\[\d+\]\.sideEffects$/),
  ratchetOf(/^webhooks\[\d+\]\.admissionReviewVersions$/, /must include at least one of/),
  { covers: ({ field, type }) => type === 'FieldValueDuplicate' && /^webhooks\[\d+\]\.name$/.test(field) },
  ratchetOf(/^webhooks\[\d+\]\.(namespace|object)Selector\.matchExpressions\[\d+\]\.values\[\d+\]$/),
];

export const POLICY_RATCHETS: readonly Ratchet[] = [
  unchanged(/^spec\.matchConditions/, (object) => [part(object, 'spec')]),
];
