import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimFolder, livingOwner } from '../../src/cli/embedded/owner.ts';

const PREFIX = 'pg-apiserver-run-';
/** Between its making and its claiming a folder has no owner either. */
const CLAIM_MS = 60_000;

/**
 * The temporary folder of one run of the tests, for this process and those it will start. What runs that were killed have left is
 * removed first.
 */
export function openRunFolder(): { readonly path: string; remove(): void } {
  const before = process.env.TMPDIR;
  for (const left of leftFolders(tmpdir())) rmSync(left, { recursive: true, force: true });
  const path = mkdtempSync(join(tmpdir(), PREFIX));
  // The account that PostgreSQL runs under when we are root must be able to pass.
  chmodSync(path, 0o755);
  claimFolder(path);
  process.env.TMPDIR = path;
  return {
    path,
    remove: () => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Where root's PostgreSQLs of the run keep what they cannot keep in their folders. */
export const sharedRootOf = (runFolder: string): string => join(runFolder, 'shared');

function leftFolders(parent: string): string[] {
  return readdirSync(parent)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(parent, name))
    .filter(
      (folder) => Date.now() - statSync(folder).mtimeMs > CLAIM_MS && livingOwner(folder) === undefined,
    );
}
