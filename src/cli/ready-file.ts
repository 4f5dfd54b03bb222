import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { explainFlag } from '../options/flag.ts';
import { processFlags } from '../options/process.ts';

/** What a program that starts the server wants to know, once it serves. */
interface Readiness {
  readonly url: string;
  /** Path of the administrator's; absent where another authority signs the certificates of clients. */
  readonly kubeconfig?: string;
  /** Path of the authority that verifies the server. */
  readonly ca: string;
  readonly pid: number;
  readonly ports: { readonly secure: number; readonly postgres?: number };
}

interface ReadyFile {
  /** Whole: a reader that polls for it never sees a part. @throws Error that names the flag */
  write(readiness: Readiness): void;
  /** @throws Error that names the flag */
  remove(): void;
}

/** Does nothing without the flag. */
export function readyFile({ readyFile: path }: { readonly readyFile: string }): ReadyFile {
  if (path === '') return { write: () => {}, remove: () => {} };
  const { shown } = processFlags.readyFile;
  return {
    write: (readiness) => {
      const partial = `${path}.${process.pid}`;
      explainFlag(shown, () => {
        writeFileSync(partial, `${JSON.stringify(readiness, undefined, 2)}\n`);
        renameSync(partial, path);
      });
    },
    remove: () => explainFlag(shown, () => rmSync(path, { force: true })),
  };
}
