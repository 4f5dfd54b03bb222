import type { JsonObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { count, part } from '../../object/parts.ts';
import { podTemplateWarnings } from '../pod/warnings.ts';

const MANY_COMPLETIONS = 100_000;
const MUCH_PARALLELISM = 10_000;

/** Warnings about a JobSpec at `path`, in a Job or in the template of a CronJob; none when it is as before. */
export function jobSpecWarnings(spec: JsonObject, old: JsonObject | undefined, path: string): string[] {
  if (old !== undefined && equal(spec, old)) return [];
  const large = count(spec.completions) > MANY_COMPLETIONS && count(spec.parallelism) > MUCH_PARALLELISM;
  const why =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [
    ...(spec.completionMode === 'Indexed' && large ? [`${path}: ${why}`] : []),
    ...podTemplateWarnings(part(spec, 'template'), `${path}.template`),
  ];
}
