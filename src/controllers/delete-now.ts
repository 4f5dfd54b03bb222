import type { DeleteOptions } from '../verbs/writing/deletion.ts';

/** How controllers delete: what they are sure of, with all that belongs to it. */
export const DELETE_NOW: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: 'Background',
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
};
