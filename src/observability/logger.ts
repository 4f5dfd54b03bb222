import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

type LogFields = Readonly<Record<string, unknown>>;

export type LogFormat = 'text' | 'json';

/** Log lines in klog's form: `I1121 05:36:00.123000    4242 serve.js:42] "message" key="value"`. */
export interface Logger {
  /** Written when -v, or --vmodule for the calling file, is at least `level`. */
  info(level: number, message: string, fields?: LogFields | (() => LogFields)): void;
  warn(message: string, fields?: LogFields): void;
  /** With the stack of the error. An expected error (LoggerOptions) is a warning without a stack, and not written every time. */
  error(message: string, error?: unknown): void;
}

/** The log as its owner sees it. */
export interface LogControl extends Logger {
  readonly verbosity: number;
  /** Takes effect at once (/debug/flags/v). */
  setVerbosity(level: number): void;
  flush(): void;
  /** Resolves when all lines are written. @throws Error when they cannot be */
  written(): Promise<void>;
}

/** --vmodule: a file's name without its ending, `*` and `?` standing for others. */
export interface ModuleVerbosity {
  readonly pattern: string;
  readonly level: number;
}

interface ExpectedTrouble {
  /** In a few words: the database is away. */
  readonly trouble: string;
  /** Else it is not written. */
  readonly isNews: boolean;
}

export interface LoggerOptions {
  readonly verbosity: number;
  readonly modules?: readonly ModuleVerbosity[];
  readonly output?: LogOutput;
  /** 'text' by default. */
  readonly format?: LogFormat;
  /** Describes an error that needs no investigation; undefined for all others. `place` is the caller's file and line. */
  readonly expected?: (error: unknown, place: string) => ExpectedTrouble | undefined;
  /** For tests; lines of every severity. */
  readonly write?: (line: string) => void;
}

export function createLogger(options: LoggerOptions): LogControl {
  const sink = options.write === undefined ? process.stderr : { write: options.write };
  const output = options.output ?? createSingleOutput(sink);
  const modules = (options.modules ?? []).map(({ pattern, level }) => ({ matches: toGlob(pattern), level }));
  let { verbosity } = options;
  const format = options.format === 'json' ? jsonLine : textLine;
  const line = (severity: Severity, { caller, message, fields = {}, level = 0 }: Said): void =>
    output.write(
      severity,
      format({ severity, place: `${caller.file}:${caller.line}`, message, fields, level }),
    );
  const info: Logger['info'] = (level, message, fields) => {
    if (level > verbosity && modules.length === 0) return;
    const caller = callerOf(info);
    const [name = ''] = caller.file.split('.');
    const own = modules.find(({ matches }) => matches.test(name))?.level ?? verbosity;
    if (level > own) return;
    line('I', { caller, message, fields: typeof fields === 'function' ? fields() : fields, level });
  };
  const warn: Logger['warn'] = (message, fields) => line('W', { caller: callerOf(warn), message, fields });
  const error: Logger['error'] = (message, cause) => {
    const caller = callerOf(error);
    const expected =
      cause === undefined ? undefined : options.expected?.(cause, `${caller.file}:${caller.line}`);
    if (expected === undefined)
      line('E', { caller, message, fields: cause === undefined ? {} : { err: describe(cause) } });
    else if (expected.isNews) line('W', { caller, message, fields: { trouble: expected.trouble } });
  };
  return {
    info,
    warn,
    error,
    flush: () => output.flush(),
    written: () => output.written(),
    get verbosity() {
      return verbosity;
    },
    setVerbosity: (level) => {
      verbosity = level;
    },
  };
}

interface Said {
  readonly caller: Caller;
  readonly message: string;
  readonly fields?: LogFields | undefined;
  readonly level?: number;
}

interface Caller {
  readonly file: string;
  readonly line: string;
}

/** The frame that called `boundary`. It costs some microseconds, so it is used only for written lines and with --vmodule. */
// biome-ignore lint/complexity/noBannedTypes: what captureStackTrace takes
function callerOf(boundary: Function): Caller {
  const holder = { stack: '' };
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(holder, boundary);
  Error.stackTraceLimit = limit;
  const match = /([^()\s]*?([^/\\()\s]+\.[cm]?[jt]s)):(\d+)/.exec(holder.stack);
  const [, url = '', file = 'unknown', line = '1'] = match ?? [];
  return findInBundle(url, Number(line)) ?? { file, line };
}

interface Region {
  readonly file: string;
  readonly begin: number;
}

const FOLDER = new URL('.', import.meta.url).href;
/** The regions of each file that has written a line, by its URL. */
const regionsByUrl = new Map<string, readonly Region[]>();

/** The bundles are beside each other, and have the line `// dist/cli/serve.js` before each module. Undefined for other files. */
function findInBundle(url: string, line: number): Caller | undefined {
  if (!url.startsWith(FOLDER)) return undefined;
  let regions = regionsByUrl.get(url);
  if (regions === undefined) {
    regions = readRegions(readFileSync(fileURLToPath(url), 'utf8'));
    regionsByUrl.set(url, regions);
  }
  const region = regions.findLast(({ begin }) => begin < line);
  return region && { file: region.file, line: String(line - region.begin) };
}

/** Exported for tests. `begin` counts lines from 1. */
export function readRegions(text: string): Region[] {
  return text.split('\n').flatMap((line, at) => {
    const file = /^\/\/ dist\/(?:.*\/)?([^/]+\.js)$/.exec(line)?.[1];
    return file === undefined ? [] : [{ file, begin: at + 1 }];
  });
}

function toGlob(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${source}$`);
}

interface LogLine {
  readonly severity: Severity;
  /** File and line of the caller. */
  readonly place: string;
  readonly message: string;
  readonly fields: LogFields;
  readonly level: number;
}

function textLine({ severity, place, message, fields }: LogLine): string {
  const header = `${severity}${stamp(new Date())} ${String(process.pid).padStart(7)}`;
  return `${header} ${place}] ${JSON.stringify(message)}${formatFields(fields)}\n`;
}

/** The keys and their order are those of component-base, logs/json. A field cannot replace them. An error has no verbosity. */
function jsonLine({ severity, place, message, fields, level }: LogLine): string {
  const head = { ts: performance.timeOrigin + performance.now(), caller: place, msg: message };
  const own = severity === 'E' ? head : { ...head, v: level };
  return `${JSON.stringify({ ...own, ...fields, ...own })}\n`;
}

function stamp(date: Date): string {
  const [day = '', time = ''] = date.toISOString().split('T');
  return `${day.slice(5).replace('-', '')} ${time.slice(0, 12)}000`;
}

function formatFields(fields: LogFields): string {
  return Object.entries(fields)
    .map(([key, value]) => ` ${key}=${typeof value === 'number' ? value : JSON.stringify(value)}`)
    .join('');
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : ` (${describe(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}

type Severity = 'I' | 'W' | 'E';

/** The output of log lines. */
interface LogOutput {
  write(severity: Severity, line: string): void;
  flush(): void;
  /** Resolves when all lines have left the process. @throws Error when nothing can be written any more */
  written(): Promise<void>;
}

/** The write method of Node's streams; `done` is called when the text is written or cannot be. */
interface LineSink {
  write(text: string, done?: (error?: Error | null) => void): unknown;
}

/** A stream writes in order: when an empty text is written, so is everything before it. */
const drained = (sink: LineSink): Promise<void> =>
  new Promise((resolve, reject) => {
    sink.write('', (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });

/** Writes every line to one stream, at once. */
const createSingleOutput = (sink: LineSink): LogOutput => ({
  write: (_severity, line) => void sink.write(line),
  flush: () => {},
  written: () => drained(sink),
});

interface SplitOptions {
  readonly info: LineSink;
  readonly error: LineSink;
  /** --log-text-info-buffer-size; 0: no buffer. */
  readonly bufferBytes: number;
  /** --log-flush-frequency */
  readonly flushEveryMs: number;
}

/**
 * --log-text-split-stream: errors go to one stream, all other lines to another, which may be buffered. The buffer is written
 * before an error, so that the two streams stay in order side by side.
 */
export function createSplitOutput({ info, error, bufferBytes, flushEveryMs }: SplitOptions): LogOutput {
  let kept: string[] = [];
  let keptBytes = 0;
  const flush = (): void => {
    if (kept.length === 0) return;
    const text = kept.join('');
    kept = [];
    keptBytes = 0;
    info.write(text);
  };
  if (bufferBytes > 0) setInterval(flush, Math.max(flushEveryMs, 1)).unref();
  return {
    flush,
    written: async () => {
      flush();
      await Promise.all([drained(info), drained(error)]);
    },
    write: (severity, line) => {
      if (severity === 'E') {
        flush();
        error.write(line);
        return;
      }
      if (bufferBytes === 0) {
        info.write(line);
        return;
      }
      kept.push(line);
      keptBytes += Buffer.byteLength(line);
      if (keptBytes >= bufferBytes) flush();
    },
  };
}
