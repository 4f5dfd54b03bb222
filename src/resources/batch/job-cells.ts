import type { ApiObject } from '../../api/object-meta.ts';
import { count, part } from '../../object/parts.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, containerCells, humanDuration, selectorText, since } from '../cells.ts';
import { hasCondition } from './validate-job-status.ts';

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
const STATES = ['Complete', 'Failed', 'Suspended', 'FailureTarget'];

function jobState(job: ApiObject): string {
  const ended = hasCondition(job, 'Complete') || hasCondition(job, 'Failed');
  if (job.metadata.deletionTimestamp !== undefined && !ended) return 'Terminating';
  return STATES.find((type) => hasCondition(job, type)) ?? 'Running';
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
  if (typeof completionTime !== 'string') return since(startTime, now);
  return humanDuration(Date.parse(completionTime) - Date.parse(startTime));
}
