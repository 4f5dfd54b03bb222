import { constants, cpSync, existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../util/make-folder.ts';
import { isReachable, SHARED_ROOT } from './binaries.ts';

/** Templates of other versions go when they were not used for so long. */
const FORGOTTEN_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * The folder of this user in which clusters are kept ready to be copied. PostgreSQL's account, which makes the cluster, must pass:
 * it seldom does in root's home.
 */
export function cacheFolder(): string {
  const caches = process.env.XDG_CACHE_HOME ?? '';
  const folder = join(caches === '' ? join(homedir(), '.cache') : caches, 'pg-apiserver');
  return process.getuid?.() === 0 && !isReachable(folder) ? join(SHARED_ROOT, 'ready') : folder;
}

/** Marks a use, and removes the templates beside it that were not used for long. */
export function useTemplate(template: string): void {
  utimesSync(template, new Date(), new Date());
  const folder = join(template, '..');
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat?.isDirectory() === true && Date.now() - stat.mtimeMs > FORGOTTEN_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

/** Files are shared until they are written, where the file system can do that. */
export function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE, preserveTimestamps: true });
}

/** What a data directory brings with it besides the cluster: without these, each start would sign new ones. */
export function copyCertificates(template: string, dataDir: string): void {
  const [from, to] = [template, dataDir].map((folder) => join(folder, 'certificates'));
  if (from === undefined || to === undefined || !existsSync(from) || existsSync(to)) return;
  makeFolder(dataDir);
  copyFolder(from, to);
}
