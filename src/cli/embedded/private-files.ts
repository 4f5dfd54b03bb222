import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { ownFlags } from '../../options/storage.ts';
import { makeFolder } from '../../util/make-folder.ts';
import type { Account } from './account.ts';

/**
 * Protects root's files near an account that may be compromised: a user who controls the database may run programs as that
 * account. So root writes only into folders that the account cannot change, and never follows links.
 */

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const MAX_BYTES = 64 * 1024;

/**
 * Ensures a folder of root that the account may traverse but not write to; takes back one that an earlier version gave to the
 * account. @throws Error with a message of one line, when the account could replace it
 */
export function ensureRootFolder(folder: string, account: Account): void {
  makeFolder(dirname(folder), { mode: 0o755 });
  assertOutOfReach(dirname(folder), account);
  makeFolder(folder, { mode: 0o755 });
  withFolder(folder, (descriptor) => {
    const { uid } = fstatSync(descriptor);
    if (uid !== 0 && uid !== account.uid) {
      throw new Error(
        `${folder} belongs to another user (id ${uid}): start as that user, or choose another ${ownFlags.dataDir.shown}`,
      );
    }
    fchownSync(descriptor, 0, 0);
    fchmodSync(descriptor, 0o755);
  });
}

/** Creates an empty folder for the account, in one from {@link ensureRootFolder}. */
export function createAccountFolder(folder: string, account: Account | undefined): void {
  mkdirSync(folder, { mode: 0o700 });
  if (account !== undefined) withFolder(folder, (at) => fchownSync(at, account.uid, account.gid));
}

function withFolder(folder: string, use: (descriptor: number) => void): void {
  const descriptor = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Checks that the account cannot change any part of the path, links included. */
function assertOutOfReach(folder: string, account: Account): void {
  for (let path = folder; ; path = dirname(path)) {
    for (const step of new Set([path, ...ancestors(realpathSync(path))])) {
      if (!isChangeable(lstatSync(step), account)) continue;
      throw new Error(
        `the account that PostgreSQL runs as when root starts it (id ${account.uid}) may change ${step}: ` +
          `choose another ${ownFlags.dataDir.shown}, or give that folder to root: chown root ${step} && chmod go-w ${step}`,
      );
    }
    if (path === dirname(path)) return;
  }
}

function ancestors(path: string): string[] {
  return path === dirname(path) ? [path] : [path, ...ancestors(dirname(path))];
}

/** In a sticky folder such as /tmp, only the owner can change an entry. */
function isChangeable(stat: Stats, { uid, gid }: Account): boolean {
  if (stat.uid === uid) return true;
  if (stat.isSymbolicLink()) return false;
  const byGroup = stat.gid === gid && (stat.mode & 0o020) !== 0;
  const byAll = (stat.mode & 0o002) !== 0;
  return (byGroup || byAll) && (stat.mode & 0o1000) === 0;
}

/** Undefined: no plain file of that name. Neither follows links nor waits for pipes. */
export function readPlainFile(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(descriptor);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(descriptor, 'utf8') : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces any file of that name by a new one that only its owner can access. */
export function replaceFile(path: string, text: string, owner?: Account): void {
  rmSync(path, { force: true });
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(descriptor, text);
    if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
  } finally {
    closeSync(descriptor);
  }
}

/** Opens a file to append to. Replaces anything but a plain file of ours with only this name. */
export function openToAppend(path: string): number {
  const flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  try {
    const descriptor = openSync(path, flags, 0o600);
    const stat = fstatSync(descriptor);
    if (stat.isFile() && stat.nlink === 1 && stat.uid === (process.geteuid?.() ?? stat.uid))
      return descriptor;
    closeSync(descriptor);
  } catch {
    // A link, or a pipe without a reader.
  }
  rmSync(path, { force: true });
  return openSync(path, flags | O_EXCL, 0o600);
}
