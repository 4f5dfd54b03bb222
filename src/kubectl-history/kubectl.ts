import { type ChildProcess, spawn } from 'node:child_process';
import { toShown } from './shown-text.ts';
import { CommandError } from './usage-error.ts';

/** The user's kubectl, which has the server's address and credentials. */
export interface Kubectl {
  /** @throws ServerError, CommandError */
  get(path: string): Promise<string>;
  /** @throws ServerError, CommandError */
  create(path: string, body: unknown): Promise<string>;
  /** Yields lines of a watch, until it ends or the signal aborts. @throws ServerError, CommandError */
  lines(path: string, signal: AbortSignal): AsyncGenerator<string>;
  /** Runs any other command and returns its output, which it may have even when it fails. */
  run(args: readonly string[]): Promise<KubectlResult>;
  /** Starts a lasting command, such as `proxy`. */
  start(args: readonly string[]): ChildProcess;
}

interface KubectlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The server's refusal, with its message. */
export class ServerError extends CommandError {
  /** NotFound, Forbidden, Expired …: the reason of the Status. */
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** kubectl could not connect to the server, or lost it. */
class NotReached extends CommandError {}

/** Whether the request may succeed later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof NotReached || (error instanceof ServerError && PASSING.has(error.reason));

const PASSING: ReadonlySet<string> = new Set([
  ...['ServiceUnavailable', 'TooManyRequests', 'Timeout', 'ServerTimeout', 'InternalError'],
]);

/** The message for a path without a resource. */
const NO_SUCH_PATH = 'the server could not find the requested resource';

export const isNoSuchPath = (error: unknown): boolean =>
  error instanceof ServerError && error.reason === 'NotFound' && error.message.includes(NO_SUCH_PATH);

interface KubectlOptions {
  /** Connection flags, placed before every command. */
  readonly flags: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Receives kubectl's warnings. */
  readonly warn: (line: string) => void;
}

export function createKubectl({ flags, env, warn }: KubectlOptions): Kubectl {
  const start = (args: readonly string[]): ChildProcess =>
    spawn('kubectl', [...flags, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const run = (args: readonly string[], input = ''): Promise<KubectlResult> => finish(start(args), input);
  const answer = async (args: readonly string[], input?: string): Promise<string> => {
    const { code, stdout, stderr } = await run(args, input);
    if (code !== 0) throw toError(stderr);
    for (const line of stderr.split('\n')) if (line !== '') warn(toShown(line));
    return stdout;
  };
  return {
    start,
    run: (args) => run(args),
    get: (path) => answer(['get', '--raw', path]),
    create: (path, body) => answer(['create', '--raw', path, '-f', '-'], JSON.stringify(body)),
    lines: (path, signal) => linesOf(start(['get', '--raw', path]), signal),
  };
}

function finish(child: ChildProcess, input: string): Promise<KubectlResult> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  // kubectl may end before it has read its input; its exit code has the reason.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error)));
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }),
    );
  });
}

async function* linesOf(child: ChildProcess, signal: AbortSignal): AsyncGenerator<string> {
  const stop = (): void => void child.kill();
  signal.addEventListener('abort', stop, { once: true });
  child.stdin?.on('error', () => {});
  child.stdin?.end();
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error)));
    child.once('close', resolve);
  });
  // Awaited below; prevents an unhandled rejection until then.
  ended.catch(() => {});
  try {
    let rest = '';
    for await (const chunk of child.stdout?.setEncoding('utf8') ?? []) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
    const code = await ended;
    if (code !== 0 && !signal.aborted) throw toError(stderr);
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

function notStarted(error: NodeJS.ErrnoException): CommandError {
  if (error.code !== 'ENOENT') return new CommandError(`kubectl cannot be run: ${error.message}`);
  return new CommandError('kubectl is not there: put it into a folder of PATH');
}

/** `Error from server (NotFound): deployments.apps "web" not found`, or kubectl's own message when it reached no server. */
function toError(stderr: string): CommandError {
  const [, reason, message] = /^Error from server(?: \((\w+)\))?: ([\s\S]*)$/m.exec(stderr) ?? [];
  if (message !== undefined) return new ServerError(reason ?? '', toShown(message.trim()));
  const lines = stderr.split('\n').filter((line) => line !== '');
  // Lines of klog repeat the last line.
  const plain = lines.filter((line) => !/^[EWIF]\d{4} /.test(line));
  const said = (plain.length > 0 ? plain : lines).map((line) => toShown(line.replace(/^error: /i, '')));
  const words = said.length > 0 ? said.join('\n') : 'kubectl failed, and did not say why';
  return IS_FINAL.test(words) ? new CommandError(words) : new NotReached(words);
}

/** Errors of kubeconfig and logins, which retries cannot help. */
const IS_FINAL = /logged in|does not exist|no such file|invalid|x509|certificate/;
