import type { JobSpec } from '../../../api/types/batch/v1.ts';
import { equal } from '../../../object/equality.ts';
import { podTemplateWarnings } from '../../pod/warnings.ts';

const MANY_COMPLETIONS = 100_000;
const MUCH_PARALLELISM = 10_000;

/** Warnings about a JobSpec at `path`, in a Job or in the template of a CronJob; none when it is as before. */
export function jobSpecWarnings(spec: JobSpec = {}, old: JobSpec | undefined, path: string): string[] {
  if (old !== undefined && equal(spec, old)) return [];
  const { completionMode, completions = 0, parallelism = 0, template = {} } = spec;
  const isLarge = completions > MANY_COMPLETIONS && parallelism > MUCH_PARALLELISM;
  const why =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [
    ...(completionMode === 'Indexed' && isLarge ? [`${path}: ${why}`] : []),
    ...podTemplateWarnings(template, `${path}.template`),
  ];
}
