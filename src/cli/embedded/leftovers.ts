import { existsSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
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
    const owner = readPlainFile(join(folder, BELONGS_TO))?.trim();
    if (owner === undefined || existsSync(owner)) continue;
    lines.push(
      `${folder} holds the PostgreSQL cluster of ${owner}, which is gone: remove it if it is not needed`,
    );
  }
  return lines;
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
