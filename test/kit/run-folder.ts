import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isReachable, SHARED_ROOT } from '../../src/cli/embedded/binaries.ts';
import { claimFolder, livingOwner } from '../../src/cli/embedded/owner.ts';

const PREFIX = 'pg-apiserver-run-';
/** Between its making and its claiming a folder has no owner either. */
const CLAIM_MS = 60_000;

/** A folder of Linux whose files are kept in memory. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 8 * 1024 ** 3;

/**
 * The folder for the files of a run of the tests: in memory if that has room for them, because a copy of a database on a disk takes
 * several times the CPU. TMPDIR chooses another folder.
 */
export function quickestFolder(env = process.env, memory = MEMORY, roomBytes = ROOM_BYTES): string {
  const isQuick = env.TMPDIR === undefined && hasRoom(memory, roomBytes) && runsPrograms(memory);
  return isQuick ? memory : tmpdir();
}

function hasRoom(folder: string, bytes: number): boolean {
  if (!existsSync(folder)) return false;
  const { bavail, bsize } = statfsSync(folder);
  return Math.min(bavail * bsize, process.availableMemory()) >= bytes;
}

/** Containers often mount it without the right to run what is in it. */
function runsPrograms(folder: string): boolean {
  try {
    const own = mkdtempSync(join(folder, 'pg-apiserver-program-'));
    try {
      const program = join(own, 'program');
      writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
      return spawnSync(program).status === 0;
    } finally {
      rmSync(own, { recursive: true });
    }
  } catch {
    return false;
  }
}

/**
 * The temporary folder of one run of the tests, for this process and those it will start. What runs that were killed have left is
 * removed first.
 */
export function openRunFolder(parent = tmpdir()): { readonly path: string; remove(): void } {
  const before = process.env.TMPDIR;
  for (const left of [...leftFolders(tmpdir()), ...leftFolders(MEMORY)])
    rmSync(left, { recursive: true, force: true });
  const path = mkdtempSync(join(parent, PREFIX));
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

const LEFT_DATABASES = 'left-databases';

/** Notes a database in the run's folder, to be dropped at the end of the run. */
export function leaveDatabase(url: string): void {
  const folder = join(tmpdir(), LEFT_DATABASES);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, new URL(url).pathname.slice(1)), '');
}

export function databasesLeftIn(runFolder: string): string[] {
  const folder = join(runFolder, LEFT_DATABASES);
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Where root's PostgreSQLs of the run keep what they cannot keep in their folders. */
export function sharedRootOf(runFolder: string): string {
  const folder = join(runFolder, 'shared');
  return isReachable(folder) ? folder : SHARED_ROOT;
}

function leftFolders(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(parent, name))
    .filter((folder) => ageMs(folder) > CLAIM_MS && livingOwner(folder) === undefined);
}

/** 0 for a folder that another run has removed meanwhile. */
function ageMs(folder: string): number {
  const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
  return Date.now() - mtimeMs;
}
