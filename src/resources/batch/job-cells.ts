import type { ApiObject } from '../../api/object-meta.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, containerCells, count, humanDuration, part, parts, selectorText, text } from '../cells.ts';

export function jobCells(job: ApiObject, now: number): readonly Cell[] {
  const spec = part(job, 'spec');
  return [
    job.metadata.name ?? '',
    jobState(job),
    completions(job),
    duration(job, now),
    age(job, now),
    ...containerCells(part(spec, 'template', 'spec')),
    selectorText(part(spec, 'selector')),
  ];
}

/** The first that holds. */
const STATES: readonly (readonly [condition: string, shown: string])[] = [
  ['Complete', 'Complete'],
  ['Failed', 'Failed'],
  ['Suspended', 'Suspended'],
  ['FailureTarget', 'FailureTarget'],
  ['SuccessCriteriaMet', 'SuccessCriteriaMet'],
];

function jobState(job: ApiObject): string {
  const conditions = parts(part(job, 'status'), 'conditions');
  const holds = (type: string): boolean =>
    conditions.some((one) => one.type === type && one.status === 'True');
  if (job.metadata.deletionTimestamp !== undefined && !holds('Complete') && !holds('Failed'))
    return 'Terminating';
  return STATES.find(([type]) => holds(type))?.[1] ?? 'Running';
}

function completions(job: ApiObject): string {
  const spec = part(job, 'spec');
  const succeeded = count(part(job, 'status').succeeded);
  if (spec.completions !== undefined) return `${succeeded}/${count(spec.completions)}`;
  return count(spec.parallelism) > 1 ? `${succeeded}/1 of ${count(spec.parallelism)}` : `${succeeded}/1`;
}

function duration(job: ApiObject, now: number): string {
  const { startTime, completionTime } = part(job, 'status');
  if (typeof startTime !== 'string') return '';
  const end = typeof completionTime === 'string' ? Date.parse(completionTime) : now;
  return text(humanDuration(end - Date.parse(startTime)));
}
