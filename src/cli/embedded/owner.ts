import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from './private-files.ts';

/**
 * The process that uses a folder: one line, `pid start-time`. The start time distinguishes a later process with the same id;
 * without it only the id counts.
 */
const FILE = 'owner';

/** @throws Error with a message of one line, when another live process uses the folder */
export function claimFolder(folder: string): void {
  const file = join(folder, FILE);
  const ours = `${process.pid} ${startTime(process.pid)}`;
  for (;;) {
    try {
      writeFileSync(file, ours, { flag: 'wx' });
      return;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    const owner = readOwner(file);
    if (owner === ours) return;
    const pid = livingOwner(folder);
    if (pid !== undefined) {
      throw new Error(`${folder} is in use by another pg-apiserver (process ${pid})`);
    }
    rmSync(file, { force: true });
  }
}

/** The process that uses the folder, when there is one. */
export function livingOwner(folder: string): number | undefined {
  const owner = readOwner(join(folder, FILE));
  const pid = Number(owner.split(' ')[0]);
  return isAlive(pid) && owner === `${pid} ${startTime(pid)}` ? pid : undefined;
}

export function releaseFolder(folder: string): void {
  const file = join(folder, FILE);
  if (readOwner(file).startsWith(`${process.pid} `)) rmSync(file, { force: true });
}

const readOwner = (file: string): string => readPlainFile(file) ?? '';

/** Field 22 of /proc/<pid>/stat (proc(5)), counted after the command's name, which may contain anything. */
function startTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
