import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/**
 * Files that a log was put aside as. Their names say when, as those of Kubernetes do:
 *
 *   /var/log/audit.log → /var/log/audit-2026-11-21T08-30-00.123.log(.gz)
 */
export function rotatedName(path: string, time: Date): string {
  const extension = extname(path);
  const stamp = time.toISOString().slice(0, -1).replaceAll(':', '-');
  return join(dirname(path), `${basename(path, extension)}-${stamp}${extension}`);
}

export interface Limits {
  /** 0: no limit. */
  readonly maxBackups: number;
  readonly maxAgeDays: number;
  readonly compress: boolean;
  /** Of compressed files. */
  readonly mode: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const COMPRESSED = '.gz';
/** Not complete: a server that ended while compressing leaves one, which the next writes anew. */
const UNFINISHED = '.gz.part';

interface RotatedFile {
  readonly path: string;
  readonly at: number;
}

/** Removes old files beyond the limits and compresses the others. */
export async function tidyRotated(path: string, limits: Limits): Promise<void> {
  const { maxBackups, maxAgeDays, compress, mode, now } = limits;
  const files = await findRotated(path);
  const oldest = maxAgeDays > 0 ? now - maxAgeDays * DAY_MS : Number.NEGATIVE_INFINITY;
  const times = [...new Set(files.map(({ at }) => at))].sort((a, b) => b - a);
  const kept = new Set((maxBackups > 0 ? times.slice(0, maxBackups) : times).filter((at) => at >= oldest));
  for (const file of files) {
    if (!kept.has(file.at)) await rm(file.path, { force: true });
    else if (compress && !file.path.endsWith(COMPRESSED)) await pack(file.path, mode);
  }
}

async function findRotated(path: string): Promise<RotatedFile[]> {
  const folder = dirname(path);
  const extension = extname(path);
  const prefix = `${basename(path, extension)}-`;
  const found: RotatedFile[] = [];
  for (const name of await readdir(folder)) {
    const plain = name.endsWith(COMPRESSED) ? name.slice(0, -COMPRESSED.length) : name;
    if (!plain.startsWith(prefix) || !plain.endsWith(extension)) continue;
    const at = parseStamp(plain.slice(prefix.length, plain.length - extension.length));
    if (at !== undefined) found.push({ path: join(folder, name), at });
  }
  return found;
}

function parseStamp(stamp: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3})$/.exec(stamp);
  if (match === null) return undefined;
  const [, hour, minute, second] = match;
  const at = Date.parse(`${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}

async function pack(path: string, mode: number): Promise<void> {
  const unfinished = `${path}${UNFINISHED}`;
  await pipeline(createReadStream(path), createGzip(), createWriteStream(unfinished, { mode }));
  await rename(unfinished, `${path}${COMPRESSED}`);
  await rm(path, { force: true });
}
