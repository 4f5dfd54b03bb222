import type { Job, JobStatus } from '../../../api/types/batch/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { mustAllBeNonNegative } from '../../rules/numbers.ts';
import { overlapOf, problemOfIndexes } from './indexes.ts';

/** Rules of a job's status. They are strict while controllers of others may write it (the feature JobManagedBy). */
export function validateStatus(root: FieldPath, job: Job, old: Job): void {
  const { status = {} } = job;
  const at = root.field('status');
  mustAllBeNonNegative(at, status, ['active', 'succeeded', 'failed', 'ready', 'terminating']);
  mustCountOnce(at.field('uncountedTerminatedPods'), job);
  const isStrict = at.isOn('JobManagedBy');
  if (isStrict) validateManagedStatus(at, job, old);
  const isForAll = isStrict || at.isOn('JobPodReplacementPolicy') || hasCondition(old, 'SuccessCriteriaMet');
  for (const why of [...(isForAll ? [] : problemsOfScope(job)), ...problemsOfEnd(job, old)])
    at.field('conditions').invalidUnshown(why);
  if (isStrict) validateProgress(at, job, old);
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

const isFinished = (job: Job): boolean => hasCondition(job, 'Complete') || hasCondition(job, 'Failed');

/** Success by criteria belongs to the policy of an indexed job. */
function problemsOfScope(job: Job): string[] {
  if (!hasCondition(job, 'SuccessCriteriaMet')) return [];
  return [
    ...(job.spec?.completionMode === 'Indexed' ? [] : ['cannot set SuccessCriteriaMet to NonIndexed Job']),
    ...(job.spec?.successPolicy === undefined
      ? ['cannot set SuccessCriteriaMet=True for Job without SuccessPolicy']
      : []),
  ];
}

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

/** Only changed fields are validated: a job that already violates a rule can still be written. */
type Changed = (...fields: (keyof JobStatus)[]) => boolean;

function validateManagedStatus(at: FieldPath, job: Job, old: Job): void {
  const { status = {} } = job;
  const changed: Changed = (...fields) => fields.some((field) => !equal(status[field], old.status?.[field]));
  const turned = (...types: string[]): boolean =>
    types.some((type) => hasCondition(job, type) !== hasCondition(old, type));
  if (hasCondition(job, 'Complete')) {
    for (const other of ['Failed', 'FailureTarget'])
      if (hasCondition(job, other) && turned('Complete', other))
        at.field('conditions').invalidUnshown(`cannot set Complete=True and ${other}=true conditions`);
  }
  if (turned('Complete') || changed('completionTime')) mustHaveTimeOfCompletion(at, job);
  if (changed('startTime', 'completionTime')) mustEndAfterStart(at, status);
  if (isFinished(job)) mustRest(at, job, (...fields) => !isFinished(old) || changed(...fields));
  validateIndexes(at, job, changed);
}

function mustHaveTimeOfCompletion(at: FieldPath, job: Job): void {
  const time = job.status?.completionTime;
  const path = at.field('completionTime');
  if (time === undefined && hasCondition(job, 'Complete'))
    path.required('completionTime is required for Complete jobs');
  if (time !== undefined && !hasCondition(job, 'Complete'))
    path.invalid(time, 'cannot set completionTime when there is no Complete=True condition');
}

function mustEndAfterStart(at: FieldPath, { startTime, completionTime }: JobStatus): void {
  if (startTime === undefined || completionTime === undefined) return;
  if (Date.parse(completionTime ?? '') < Date.parse(startTime ?? ''))
    at.field('completionTime').invalid(completionTime, 'completionTime cannot be set before startTime');
}

function mustRest(at: FieldPath, { spec = {}, status = {} }: Job, isAsked: Changed): void {
  const { active = 0, startTime, uncountedTerminatedPods: uncounted = {} } = status;
  // A job for nothing ends without a start, also while it is suspended.
  const neverStarts = spec.suspend === true && spec.completions === 0 && at.minor >= 32;
  if (active > 0 && isAsked('active'))
    at.field('active').invalid(active, 'active>0 is invalid for finished job');
  if (startTime === undefined && !neverStarts && isAsked('startTime'))
    at.field('startTime').required('startTime is required for finished job');
  const isCounted = (uncounted.failed ?? []).length + (uncounted.succeeded ?? []).length === 0;
  if (!isCounted && isAsked('uncountedTerminatedPods'))
    at.field('uncountedTerminatedPods').invalid(
      uncounted,
      'uncountedTerminatedPods needs to be empty for finished job',
    );
}

function validateIndexes(at: FieldPath, { spec = {}, status = {} }: Job, changed: Changed): void {
  const { completions, completionMode, backoffLimitPerIndex: limit } = spec;
  const { completedIndexes: completed = '', failedIndexes: failed } = status;
  const completedPath = at.field('completedIndexes');
  const failedPath = at.field('failedIndexes');
  const mustBeIndexes = (path: FieldPath, indexes: string): void => {
    const why = problemOfIndexes(indexes, completions ?? 0);
    if (why !== undefined) path.invalid(indexes, `error parsing ${String(path).split('.').at(-1)}: ${why}`);
  };
  if (changed('completedIndexes')) {
    if (completions !== undefined) mustBeIndexes(completedPath, completed);
    if (completed !== '' && completionMode !== 'Indexed')
      completedPath.invalid(
        completed,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      );
  }
  if (failed === undefined) return;
  if (changed('failedIndexes')) {
    if (limit === undefined)
      failedPath.invalid(failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null');
    else if (completions !== undefined) mustBeIndexes(failedPath, failed);
  }
  if (completions === undefined || !changed('failedIndexes', 'completedIndexes')) return;
  const shared = overlapOf(completed, failed, completions);
  if (shared !== undefined)
    failedPath.invalid(failed, `failedIndexes and completedIndexes overlap at index: ${shared}`);
}

const TERMINAL = ['Failed', 'Complete', 'FailureTarget'];

/** Conditions of a job's end stay true, and counts never decrease. */
function validateProgress(at: FieldPath, job: Job, old: Job): void {
  const { spec = {}, status = {} } = job;
  const before = old.status ?? {};
  for (const type of TERMINAL)
    if (hasCondition(old, type) && !hasCondition(job, type))
      at.field('conditions').invalidUnshown(`cannot disable the terminal ${type}=True condition`);
  // An indexed job whose indexes all run at once can be made smaller, and takes their successes along.
  const isElastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism;
  for (const field of isElastic ? (['failed'] as const) : (['failed', 'succeeded'] as const))
    if ((status[field] ?? 0) < (before[field] ?? 0))
      at.field(field).invalid(status[field] ?? 0, `cannot decrease the ${field} counter`);
  const { completionTime, startTime } = status;
  if (completionTime !== undefined && !equal(completionTime, before.completionTime ?? completionTime))
    at.field('completionTime').invalid(completionTime, 'completionTime cannot be mutated');
  if (before.startTime === undefined || equal(startTime, before.startTime)) return;
  if (spec.suspend !== true && !(isResumed(job, old) && at.minor >= 32))
    refuseStart(at.field('startTime'), startTime);
}

/** A job that goes on begins anew. */
const isResumed = ({ status = {} }: Job, old: Job): boolean =>
  hasCondition(old, 'Suspended') &&
  (status.conditions ?? []).some((one) => one.type === 'Suspended' && one.status === 'False');

function refuseStart(at: FieldPath, time: string | undefined): void {
  if (at.minor < 36) at.required('startTime cannot be removed for unsuspended job');
  else at.invalid(time ?? null, 'field is immutable for unsuspended job once set');
}
