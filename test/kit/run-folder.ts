import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isReachable, SHARED_ROOT } from '../../src/cli/embedded/binaries.ts';
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
  const remover = startRemover(path);
  return {
    path,
    remove: () => {
      remover.kill('SIGKILL');
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Once this process has ended without {@link openRunFolder}'s `remove`, and its PostgreSQLs with it, which have 20 s for that. */
const REMOVER = `
  read -r _
  for second in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -z "$(find "$1" -name postmaster.pid)" ] && break
    sleep 1
  done
  rm -rf -- "$1"`;

/** Waits for the end of a pipe whose other end we hold. */
function startRemover(folder: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', REMOVER, 'pg-apiserver-remover', folder], {
    // Out of reach of ctrl-C.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref();
  return child;
}

/** Where root's PostgreSQLs of the run keep what they cannot keep in their folders. */
export function sharedRootOf(runFolder: string): string {
  const folder = join(runFolder, 'shared');
  return isReachable(folder) ? folder : SHARED_ROOT;
}

function leftFolders(parent: string): string[] {
  return readdirSync(parent)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(parent, name))
    .filter(
      (folder) => Date.now() - statSync(folder).mtimeMs > CLAIM_MS && livingOwner(folder) === undefined,
    );
}
