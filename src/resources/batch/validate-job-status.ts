import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { duplicate, invalidValue } from '../../object/field-errors.ts';
import { part, parts, text } from '../../object/parts.ts';
import { invalidUnshown } from '../validation/notation.ts';
import { validateCounts } from '../validation/numbers.ts';

/** What 1.31 checks of a job's status while only its own controller writes it (gate JobManagedBy closed). */

const COUNTS = ['active', 'succeeded', 'failed', 'ready', 'terminating'];

export function validateJobStatus(job: ApiObject, old: ApiObject): FieldError[] {
  return [
    ...validateCounts(part(job, 'status'), COUNTS, 'status'),
    ...validateUncounted(job),
    ...validateConditions(job, old).map((why) => invalidUnshown('status.conditions', why)),
  ];
}

/** A pod is waiting to be counted once, as a success or as a failure. */
function validateUncounted(job: ApiObject): FieldError[] {
  const waiting = part(job, 'status', 'uncountedTerminatedPods');
  const seen = new Set<string>();
  return ['succeeded', 'failed'].flatMap((list) => {
    const uids = waiting[list];
    return (Array.isArray(uids) ? uids : []).flatMap((value, at) => {
      const field = `status.uncountedTerminatedPods.${list}[${at}]`;
      const uid = text(value);
      if (uid === '') return [invalidValue(field, uid, 'must not be empty')];
      if (seen.has(uid)) return [duplicate(field, uid)];
      seen.add(uid);
      return [];
    });
  });
}

export function hasCondition(job: ApiObject, type: string): boolean {
  return parts(part(job, 'status'), 'conditions').some((one) => one.type === type && one.status === 'True');
}

/** How a job ends is decided once: its criteria are met, or it fails. */
function validateConditions(job: ApiObject, old: ApiObject): string[] {
  const met = hasCondition(job, 'SuccessCriteriaMet');
  const wasMet = hasCondition(old, 'SuccessCriteriaMet');
  const reasons: string[] = [];
  if (met && hasCondition(job, 'Failed'))
    reasons.push('cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (met && hasCondition(job, 'FailureTarget'))
    reasons.push('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  if (part(job, 'spec').successPolicy !== undefined && !met && hasCondition(job, 'Complete'))
    reasons.push('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  if (wasMet && !met) reasons.push('cannot disable the SuccessCriteriaMet=True condition');
  if (hasCondition(old, 'Complete') && !wasMet && met)
    reasons.push('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  return reasons;
}
