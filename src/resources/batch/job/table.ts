import type { Job } from '../../../api/types/batch/v1.ts';
import { age, containerCells, humanDuration, selectorText, since } from '../../cells.ts';
import { column, nameColumn, type Table } from '../../define.ts';
import { hasCondition } from './validate-status.ts';

export const table: Table<Job> = {
  columns: [
    nameColumn(),
    column('Status'),
    column('Completions'),
    column('Duration'),
    column('Age'),
    column('Containers', 1),
    column('Images', 1),
    column('Selector', 1),
  ],
  cells: (job, now) => {
    const { metadata, spec = {} } = job;
    return [
      metadata.name ?? '',
      stateOf(job),
      completionsOf(job),
      durationOf(job, now),
      age(job, now),
      ...containerCells(spec.template?.spec ?? {}),
      selectorText(spec.selector ?? {}),
    ];
  },
};

/** The first that holds. */
const STATES = ['Complete', 'Failed', 'Suspended', 'FailureTarget'];

function stateOf(job: Job): string {
  const hasEnded = hasCondition(job, 'Complete') || hasCondition(job, 'Failed');
  if (job.metadata.deletionTimestamp !== undefined && !hasEnded) return 'Terminating';
  return STATES.find((type) => hasCondition(job, type)) ?? 'Running';
}

function completionsOf({ spec = {}, status = {} }: Job): string {
  const { completions, parallelism = 0 } = spec;
  const { succeeded = 0 } = status;
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationOf({ status = {} }: Job, now: number): string {
  const { startTime, completionTime } = status;
  if (startTime === undefined) return '';
  if (completionTime === undefined) return since(startTime, now);
  return humanDuration(Date.parse(completionTime) - Date.parse(startTime));
}
