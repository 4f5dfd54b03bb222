import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createStream, type RotatingFileStream } from 'rotating-file-stream';

export interface RotationOptions {
  /** 0: the file is not rotated. */
  readonly maxSizeMb: number;
  /** Old files to keep, and for how long; 0: no limit. */
  readonly maxBackups: number;
  readonly maxAgeDays: number;
  readonly compress: boolean;
  readonly mode: number;
  /** Old files that cannot be removed or compressed. */
  readonly onTrouble: (error: unknown) => void;
}

interface Waiting {
  readonly text: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Old files must also be removed on a server that rotates rarely. */
const TIDY_EVERY_MS = 60 * 60 * 1000;

/** Writes the lines of a log. */
export interface LineWriter {
  /** Writes whole lines. Resolves when the operating system has them. @throws Error when the write failed */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file that is rotated when it is full. Lines that arrive during a write go together into the next one, which the waiting
 * requests share. Old files are handled here and not by the stream library, which blocks writing while it compresses, has no
 * maximum age, and keeps a list of its files in a file of its own.
 */
export class RotatingFile implements LineWriter {
  readonly #path: string;
  readonly #options: RotationOptions;
  readonly #timer: NodeJS.Timeout;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #tidying: Promise<void> = Promise.resolve();
  #stream: RotatingFileStream | undefined;

  constructor(path: string, options: RotationOptions) {
    this.#path = path;
    this.#options = options;
    this.#timer = setInterval(() => this.#tidy(), TIDY_EVERY_MS).unref();
    this.#tidy();
  }

  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    const stream = this.#stream;
    if (stream !== undefined) await new Promise<void>((resolve) => stream.end(() => resolve()));
    await this.#tidying;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        await this.#append(batch.map(({ text }) => text).join(''));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // At once, not in a later turn: the caller that awaited this write may start the next one before that.
    this.#writing = undefined;
  }

  #append(text: string): Promise<void> {
    this.#stream ??= this.#open();
    const stream = this.#stream;
    return new Promise((resolve, reject) => {
      stream.write(text, (error) => {
        if (error == null) {
          resolve();
          return;
        }
        // A stream that failed once (on a full disk) stays failed, so the next line opens a new one.
        this.#stream = undefined;
        reject(error);
      });
    });
  }

  #open(): RotatingFileStream {
    const { maxSizeMb, mode } = this.#options;
    const name = (time: number | Date | null, index = 1): string =>
      time === null ? this.#path : rotatedName(this.#path, new Date(Number(time) + index - 1));
    const stream = createStream(name, { mode, ...(maxSizeMb === 0 ? {} : { size: `${maxSizeMb}M` }) });
    stream.on('error', () => {});
    stream.on('rotated', () => this.#tidy());
    return stream;
  }

  #tidy(): void {
    const { onTrouble, ...limits } = this.#options;
    this.#tidying = this.#tidying
      .then(() => tidyRotated(this.#path, { ...limits, now: Date.now() }))
      .catch(onTrouble);
  }
}

/**
 * Rotated files have the time in their names, as in Kubernetes:
 *
 *   /var/log/audit.log → /var/log/audit-2026-11-21T08-30-00.123.log(.gz)
 */
export function rotatedName(path: string, time: Date): string {
  const extension = extname(path);
  const stamp = time.toISOString().slice(0, -1).replaceAll(':', '-');
  return join(dirname(path), `${basename(path, extension)}-${stamp}${extension}`);
}

interface Limits {
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
/** An incomplete file. A server that ends while it compresses leaves one, which the next server writes again. */
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
