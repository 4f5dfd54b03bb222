import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { livingOwner } from './owner.ts';
import { readPlainFile } from './private-files.ts';

/** A file in a cluster's folder below the shared root, with its data directory. */
export const BELONGS_TO = 'belongs-to';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Cleans up what deleted data directories have left below the shared root. Removes copies of PostgreSQL's programs that were
 * unused for a day. Keeps clusters, whose directory may be on an unmounted disk, and returns a line for each.
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
    // Earlier versions did not record the directory.
    const of =
      owner === ''
        ? 'a PostgreSQL cluster of an unknown data directory'
        : `the PostgreSQL cluster of ${owner}, which is gone`;
    lines.push(`${folder} holds ${of}${stillRuns(folder)}: remove it if it is not needed`);
  }
  return lines;
}

/** A note with the process id, or ''. The account may write the file: the id is shown, never used. */
function stillRuns(folder: string): string {
  const pid = Number(readPlainFile(join(folder, 'cluster', 'postmaster.pid'))?.split('\n')[0]);
  if (!Number.isInteger(pid)) return '';
  const command = readPlainFile(`/proc/${pid}/cmdline`) ?? '';
  return command.split('\0').includes(join(folder, 'cluster')) ? `, and still runs (process ${pid})` : '';
}

/** Each use sets the time. */
function isForgotten(folder: string): boolean {
  const { mtimeMs } = statSync(folder);
  return Date.now() - mtimeMs > DAY_MS && !programs().some((path) => path.startsWith(`${folder}/`));
}

/** The command lines of this machine's processes, where readable. */
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
