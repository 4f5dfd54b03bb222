import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AuditEvent, AuditRecord, EventUser } from './event.ts';
import { type LineWriter, RotatingFile, type RotationOptions } from './rotating-file.ts';
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
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
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
