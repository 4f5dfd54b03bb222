import { closeSync, createReadStream, createWriteStream, openSync, statSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { createStream, type RotatingFileStream } from 'rotating-file-stream';
import { makeFolder } from '../util/make-folder.ts';
import type { AuditEvent, AuditRecord, EventUser } from './audit-event.ts';
import type { AuditSink, LossReport } from './sink.ts';

interface LogOptions {
  readonly format: 'legacy' | 'json';
  readonly apiVersion: string;
  readonly report: LossReport;
}

/** The log back end: one line for each event. */
export class LogSink implements AuditSink {
  readonly #writer: LineWriter;
  readonly #options: LogOptions;

  constructor(writer: LineWriter, options: LogOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  async process(records: readonly AuditRecord[]): Promise<boolean> {
    try {
      await this.#writer.write(records.map((record) => `${this.#toLine(record)}\n`).join(''));
      return true;
    } catch (error) {
      this.#options.report('log', error, records);
      return false;
    }
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  #toLine(record: AuditRecord): string {
    const { format, apiVersion } = this.#options;
    return format === 'json' ? record.toJson(apiVersion) : formatLegacy(record.event);
  }
}

/** Only the server's account may read the audit log. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** `-` is standard output; a path that is no regular file (a pipe, a terminal) is never rotated. @throws Error */
export async function openLog(path: string, rotation: Omit<RotationOptions, 'mode'>): Promise<LineWriter> {
  if (path === '-') return new StandardOutput();
  makeFolder(dirname(path), { mode: FOLDER_MODE });
  closeSync(openSync(path, 'a', FILE_MODE));
  if (statSync(path).isFile()) return new RotatingFile(path, { ...rotation, mode: FILE_MODE });
  return new SpecialFile(await open(path, 'a'));
}

class StandardOutput implements LineWriter {
  constructor() {
    // The reader of a pipe may go away: each write then fails by itself, and the server goes on.
    process.stdout.on('error', () => {});
  }

  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error == null ? resolve() : reject(error)));
    });
  }

  async close(): Promise<void> {}
}

class SpecialFile implements LineWriter {
  readonly #file: FileHandle;
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: FileHandle) {
    this.#file = file;
  }

  write(text: string): Promise<void> {
    const writing = this.#last.then(() => this.#file.appendFile(text));
    this.#last = writing.catch(() => {});
    return writing;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** An event as one line of text, for tools that read the legacy format (Kubernetes: audit/format.go). */
export function formatLegacy(event: AuditEvent): string {
  const { user, impersonatedUser: other } = event;
  const { code } = event.responseStatus ?? {};
  const fields = {
    id: event.auditID,
    stage: event.stage,
    ip: event.sourceIPs?.[0] ?? '<unknown>',
    method: event.verb,
    user: textOr(user.username, '<none>'),
    groups: textOr(user.username, '') === '' ? '<none>' : groupsOf(user, '<none>'),
    as: other === undefined ? '<self>' : (other.username ?? ''),
    asgroups: other === undefined ? '<lookup>' : groupsOf(other, '<lookup>'),
    'user-agent': event.userAgent ?? '',
    namespace: textOr(event.objectRef?.namespace, '<none>'),
    uri: event.requestURI,
    response: code === undefined ? '<deferred>' : String(code),
  };
  const text = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `${event.requestReceivedTimestamp} AUDIT: ${text.join(' ')}`;
}

const textOr = (text: string | undefined, fallback: string): string =>
  text === undefined || text === '' ? fallback : text;

function groupsOf({ groups }: EventUser, fallback: string): string {
  if (groups === undefined || groups.length === 0) return fallback;
  return groups.map((group) => JSON.stringify(group)).join(',');
}

interface RotationOptions {
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
interface LineWriter {
  /** Writes whole lines. Resolves when the operating system has them. @throws Error when the write failed */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file that is rotated when it is full. Lines that arrive during a write go together into the next one, which the waiting
 * requests share. Old files are handled here and not by the stream library, which blocks writing while it compresses, has no
 * maximum age, and keeps a list of its files in a file of its own.
 */
class RotatingFile implements LineWriter {
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
  /** The mode of compressed files. */
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
