import type { Job } from '../../../api/types/batch/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustAllBeNonNegative } from '../../rules/numbers.ts';

/** What 1.31 checks of a job's status while only its own controller writes it (gate JobManagedBy closed). */
export function validateStatus(root: FieldPath, job: Job, old: Job): void {
  const { status = {} } = job;
  const at = root.field('status');
  mustAllBeNonNegative(at, status, ['active', 'succeeded', 'failed', 'ready', 'terminating']);
  mustCountOnce(at.field('uncountedTerminatedPods'), job);
  for (const why of problemsOfEnd(job, old)) at.field('conditions').invalidUnshown(why);
}

/** A pod is waiting to be counted once, as a success or as a failure. */
function mustCountOnce(at: FieldPath, { status = {} }: Job): void {
  const seen = new Set<string>();
  for (const list of ['succeeded', 'failed'] as const)
    for (const [path, uid] of at.field(list).each(status.uncountedTerminatedPods?.[list])) {
      if (uid === '') path.invalid(uid, 'must not be empty');
      else if (seen.has(uid)) path.duplicate(uid);
      seen.add(uid);
    }
}

export const hasCondition = ({ status = {} }: Job, type: string): boolean =>
  (status.conditions ?? []).some((one) => one.type === type && one.status === 'True');

/** How a job ends is decided once: its criteria are met, or it fails. */
function problemsOfEnd(job: Job, old: Job): string[] {
  const isMet = hasCondition(job, 'SuccessCriteriaMet');
  const wasMet = hasCondition(old, 'SuccessCriteriaMet');
  const reasons: string[] = [];
  if (isMet && hasCondition(job, 'Failed'))
    reasons.push('cannot set SuccessCriteriaMet=True and Failed=true conditions');
  if (isMet && hasCondition(job, 'FailureTarget'))
    reasons.push('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions');
  if (job.spec?.successPolicy !== undefined && !isMet && hasCondition(job, 'Complete'))
    reasons.push('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True');
  if (wasMet && !isMet) reasons.push('cannot disable the SuccessCriteriaMet=True condition');
  if (hasCondition(old, 'Complete') && !wasMet && isMet)
    reasons.push('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions');
  return reasons;
}
