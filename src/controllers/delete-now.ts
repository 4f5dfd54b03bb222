import type { DeleteOptions } from '../verbs/writing/deletion.ts';

/** The options with which controllers delete objects, at once and with their dependents. */
export const DELETE_NOW: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: 'Background',
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
};
