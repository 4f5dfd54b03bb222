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

export const namespaceFlags = {
  fillsNamespaces: bool('namespace-objects', {
    default: true,
    meaning:
      'give each namespace the service account default and the config map kube-root-ca.crt, as a controller manager does; envtest leaves them out, because its suites count what is there and make their own',
  }),
};

/** How writes are made. @throws UsageError */
export function readWriting(line: CommandLine) {
  return Object.freeze({ ...line.valuesOf(writingFlags), ...line.valuesOf(namespaceFlags) });
}

function atLeastOne(count: number, flag: string): number {
  if (count < 1) throw new UsageError(`${flag} must be at least 1`);
  return count;
}
