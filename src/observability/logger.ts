/** Log lines in the form Kubernetes' tools know: `I1121 05:36:00.123456   4242 serve.go] message key="value"`. */
export interface Logger {
  /** `level` is what -v must at least be. */
  info(level: number, message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, error?: unknown): void;
}

export function createLogger(options: { verbosity: number; write?: (line: string) => void }): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line));
  const line = (severity: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    write(
      `${severity}${stamp(new Date())} ${String(process.pid).padStart(7)} ${message}${formatFields(fields)}\n`,
    );
  return {
    info: (level, message, fields) => {
      if (level <= options.verbosity) line('I', message, fields);
    },
    warn: (message, fields) => line('W', message, fields),
    error: (message, error) => line('E', message, error === undefined ? {} : { err: describe(error) }),
  };
}

function stamp(date: Date): string {
  const [day = '', time = ''] = date.toISOString().split('T');
  return `${day.slice(5).replace('-', '')} ${time.slice(0, 12)}000`;
}

function formatFields(fields: Readonly<Record<string, unknown>>): string {
  return Object.entries(fields)
    .map(([key, value]) => ` ${key}=${typeof value === 'number' ? value : JSON.stringify(value)}`)
    .join('');
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? '' : ` (${describe(error.cause)})`;
  return `${error.stack ?? error.message}${cause}`;
}
