import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { livingOwner } from './owner.ts';
import { readPlainFile } from './private-files.ts';

/** In a cluster's folder below the shared root: which data directory it belongs to. */
export const BELONGS_TO = 'belongs-to';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * What data directories that are gone have left below the shared root. Copies of PostgreSQL's programs are removed when nobody
 * has used them for a day. A cluster is somebody's data, and its directory may be on a disk that is not mounted now: answers a
 * line for a person for each, and leaves it.
 */
export function tidySharedRoot(root: string): string[] {
  const lines: string[] = [];
  for (const name of existsSync(root) ? readdirSync(root) : []) {
    const folder = join(root, name);
    if (name.startsWith('postgres-')) {
      if (isForgotten(folder)) rmSync(folder, { recursive: true, force: true });
      continue;
    }
    const owner = readPlainFile(join(folder, BELONGS_TO))?.trim() ?? '';
    if (existsSync(owner) || !existsSync(join(folder, 'cluster')) || livingOwner(folder) !== undefined)
      continue;
    // Earlier versions did not note whose it is.
    const of =
      owner === ''
        ? 'a PostgreSQL cluster that nobody uses'
        : `the PostgreSQL cluster of ${owner}, which is gone`;
    lines.push(`${folder} holds ${of}${stillRuns(folder)}: remove it if it is not needed`);
  }
  return lines;
}

/** Empty when it does not. Its process id is in a file of the account's: it is told, not used. */
function stillRuns(folder: string): string {
  const pid = Number(readPlainFile(join(folder, 'cluster', 'postmaster.pid'))?.split('\n')[0]);
  if (!Number.isInteger(pid)) return '';
  const command = readPlainFile(`/proc/${pid}/cmdline`) ?? '';
  return command.split('\0').includes(join(folder, 'cluster')) ? `, and still runs (process ${pid})` : '';
}

/** Each use sets its time. */
function isForgotten(folder: string): boolean {
  const { mtimeMs } = statSync(folder);
  return Date.now() - mtimeMs > DAY_MS && !programs().some((path) => path.startsWith(`${folder}/`));
}

/** What runs on this machine, where it tells. */
function programs(): string[] {
  const processes = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return processes.flatMap((pid) => {
    try {
      return [readlinkSync(`/proc/${pid}/exe`)];
    } catch {
      return [];
    }
  });
}
