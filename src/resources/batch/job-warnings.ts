import type { JsonObject } from '../../api/object-meta.ts';
import { count } from '../cells.ts';

const MANY_COMPLETIONS = 100_000;
const MUCH_PARALLELISM = 10_000;

/** Warnings about a JobSpec at `path`, in a Job or in the template of a CronJob. */
export function jobSpecWarnings(spec: JsonObject, path: string): string[] {
  const large = count(spec.completions) > MANY_COMPLETIONS && count(spec.parallelism) > MUCH_PARALLELISM;
  if (spec.completionMode !== 'Indexed' || !large) return [];
  return [
    `${path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
  ];
}
