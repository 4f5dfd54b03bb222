import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownFlags } from '../options/storage.ts';

/**
 * Allows one server per data directory. The file contains the owner's process id; a lock whose process has ended is taken over.
 * @throws Error with a message of one line
 */
export function lockDataDir(folder: string): { release(): void } {
  const path = join(folder, 'lock');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    try {
      writeFileSync(path, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
      return { release: () => rmSync(path, { force: true }) };
    } catch (error) {
      if (!isExists(error)) throw error;
      const owner = Number(readFileSync(path, 'utf8'));
      if (isServer(owner)) {
        throw new Error(
          `${folder} is in use by process ${owner}: stop it, or give another ${ownFlags.dataDir.shown}`,
        );
      }
      rmSync(path, { force: true });
    }
  }
  throw new Error(`${path} cannot be locked`);
}

const isExists = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST';

/** As the program is called: by its file, or by the link that npm makes to it. */
const PROGRAM = /(^|\/)(main\.js|pg-apiserver)[\0 ]/;

/** Process ids are reused, above all after a reboot: with /proc, only a server counts. */
function isServer(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  try {
    return PROGRAM.test(`${readFileSync(`/proc/${pid}/cmdline`, 'utf8')}\0`);
  } catch {
    return true;
  }
}
