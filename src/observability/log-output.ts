export type Severity = 'I' | 'W' | 'E';

/** Where log lines go. */
export interface LogOutput {
  write(severity: Severity, line: string): void;
  flush(): void;
  /** Resolves when all that was logged has left the process. @throws Error when nothing can be written any more */
  written(): Promise<void>;
}

/** As Node's streams: what `text` is, and what to call when it is written or cannot be. */
export interface LineSink {
  write(text: string, done?: (error?: Error | null) => void): unknown;
}

/** A stream writes in order: when nothing has been written, so has all before it. */
const drained = (sink: LineSink): Promise<void> =>
  new Promise((resolve, reject) => {
    sink.write('', (error) => (error === null || error === undefined ? resolve() : reject(error)));
  });

/** Everything to one stream, at once. */
export const createSingleOutput = (sink: LineSink): LogOutput => ({
  write: (_severity, line) => void sink.write(line),
  flush: () => {},
  written: () => drained(sink),
});

export interface SplitOptions {
  readonly info: LineSink;
  readonly error: LineSink;
  /** --log-text-info-buffer-size; 0: nothing is kept back. */
  readonly bufferBytes: number;
  /** --log-flush-frequency */
  readonly flushEveryMs: number;
}

/**
 * --log-text-split-stream: errors to one stream, all else to another, which may be buffered. What is kept back is written
 * before an error, so that the two streams read side by side tell the same story.
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
