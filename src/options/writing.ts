import type { CommandLine } from './command-line.ts';
import { bool, int, UsageError } from './flag.ts';

export const writingFlags = {
  collectsGarbage: bool('enable-garbage-collector', {
    default: true,
    meaning: 'generic garbage collector; must match the controller manager setting',
  }),
  deleteCollectionWorkers: int('delete-collection-workers', {
    default: 1,
    meaning: 'workers for deletecollection calls',
    check: atLeastOne,
  }),
};

/** How writes are made. @throws UsageError */
export function readWriting(line: CommandLine) {
  return Object.freeze(line.valuesOf(writingFlags));
}

function atLeastOne(count: number, flag: string): number {
  if (count < 1) throw new UsageError(`${flag} must be at least 1`);
  return count;
}
