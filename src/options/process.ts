import type { CommandLine } from './command-line.ts';
import { bool, text } from './flag.ts';

/** How the program that starts this server hears of it, and ends it. */
export const processFlags = {
  readyFile: text('ready-file', {
    default: '',
    meaning:
      'file to write when the server is ready, for the program that starts it: JSON with url, kubeconfig, ca, pid and ports (secure, and postgres for the embedded one), whole or not at all; an old one is removed when the server begins, and its own when it ends',
  }),
  exitsWithParent: bool('exit-with-parent', {
    default: false,
    meaning:
      'end, in order, when the process that started this one has ended, however that ended; for tests and CI',
  }),
};

export const readProcess = (line: CommandLine) => Object.freeze(line.valuesOf(processFlags));
