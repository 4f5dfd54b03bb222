import type { CommandLine } from './command-line.ts';
import { bool, text, UsageError } from './flag.ts';
import { storageFlags } from './storage.ts';

/** How the program that starts this server hears of it, and ends it. */
export const processFlags = {
  readyFile: text('ready-file', {
    default: '',
    meaning:
      'file to write when the server is ready, for the program that starts it: JSON with url, kubeconfig, ca, pid and ports (secure, and postgres for the embedded one), whole or not at all; an old one is removed when the server begins, and its own when it ends',
  }),
  startsWarm: bool('warm-start', {
    default: false,
    meaning:
      "for tests and CI: a --data-dir without a cluster begins with a copy of one that is kept in this user's cache folder, and made there once, keys included; the embedded PostgreSQL then syncs nothing to the disk, and a crash of the machine may destroy it; needs the embedded PostgreSQL",
  }),
  exitsWithParent: bool('exit-with-parent', {
    default: false,
    meaning:
      'end, in order, when the process that started this one has ended, however that ended; for tests and CI',
  }),
};

/** @throws UsageError */
export function readProcess(line: CommandLine) {
  const { startsWarm } = processFlags;
  const { databaseUrls } = storageFlags;
  if (line.valueOf(startsWarm) && line.isGiven(databaseUrls))
    throw new UsageError(
      `${startsWarm.shown} copies a cluster of the embedded PostgreSQL: leave it or ${databaseUrls.shown} out`,
    );
  return Object.freeze(line.valuesOf(processFlags));
}
