import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../src/cli/embedded/embedded-postgres.ts';
import { threadsFor } from '../../src/options/serving.ts';
import { onLeash } from './leash.ts';
import type { Pair } from './pki.ts';
import { helmPath, kubectlPath, runTool, type ToolResult } from './tools.ts';

/** A server as users run it: a process of its own, on a database of the test's. */
export interface Cluster extends AsyncDisposable {
  readonly port: number;
  readonly kubeconfig: string;
  readonly folder: string;
  kubectl(args: string, input?: string, env?: Record<string, string>): Promise<ToolResult>;
  /** The kubectl of Kubernetes 1.33. */
  kubectl33(args: string, input?: string): Promise<ToolResult>;
  helm(args: string): Promise<ToolResult>;
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Like request, as the user of the token rather than as the administrator. */
  bearer(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Lines of a watch, until `stop`. */
  watch(path: string): Watch;
  /** Everything it has written so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Sends a message to the preloaded module, and answers its next one. */
  ask(message: string): Promise<unknown>;
  start(): Promise<void>;
  /** Resolves with the exit code when it ends, for every reason. */
  ended(): Promise<number | null>;
  /** SIGTERM, and waits for the end. Answers the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface Answer {
  readonly code: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every kind
  readonly json: any;
}

export interface Watch {
  readonly events: {
    type: string;
    object: { metadata: { name: string; resourceVersion: string }; code?: number; reason?: string };
  }[];
  reached(count: number): Promise<void>;
  readonly ended: Promise<void>;
  stop(): void;
}

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
/** Runs the server; `npm run test:versions` names others. */
const NODE = process.env.TEST_NODE ?? process.execPath;
const START_TIMEOUT_MS = 90_000;

export interface StartOptions {
  /** A certificate of its administrator, where that is not of the server's own making (--client-ca-file). */
  readonly admin?: Pair;
  /** A module that is loaded before the server's own, and that can be asked over an IPC channel. */
  readonly preload?: string;
}

/** TEST_SERVING_THREADS=3 lets every server of the tests serve in as many threads, where a test does not say how many. */
const { TEST_SERVING_THREADS } = process.env;
export const SERVING_THREADS = Number(TEST_SERVING_THREADS ?? threadsFor(availableParallelism()));

/** TEST_EMULATED_VERSION=1.36 lets every server of the tests emulate it, where a test does not say which. */
const { TEST_EMULATED_VERSION } = process.env;

function chosenFlags(flags: readonly string[]): string[] {
  const isSaid = (name: string): boolean => flags.some((flag) => flag.startsWith(name));
  const chosen = (name: string, value: string | undefined): string[] =>
    value === undefined || isSaid(name) ? [] : [`${name}=${value}`];
  return [
    ...chosen('--serving-threads', TEST_SERVING_THREADS),
    ...chosen('--emulated-version', TEST_EMULATED_VERSION),
  ];
}

export async function startCluster(
  databaseUrl: string,
  flags: readonly string[] = [],
  options: StartOptions = {},
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-e2e-'));
  const port = await freePort();
  const args = [
    `--data-dir=${folder}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--kvstore-servers=${databaseUrl}`,
    ...chosenFlags(flags),
    ...flags,
  ];
  const cluster = new ProcessCluster({ folder, port, args, ...options });
  await cluster.start();
  return cluster;
}

interface ProcessOptions extends StartOptions {
  readonly folder: string;
  readonly port: number;
  readonly args: readonly string[];
}

class ProcessCluster implements Cluster {
  readonly folder: string;
  readonly port: number;
  readonly kubeconfig: string;
  readonly #args: readonly string[];
  readonly #admin: Pair | undefined;
  readonly #preload: string | undefined;
  #child: ChildProcess | undefined;
  #agent: Agent | undefined;
  #log = '';
  readonly output = { stdout: '', stderr: '' };

  constructor({ folder, port, args, admin, preload }: ProcessOptions) {
    this.#preload = preload;
    this.folder = folder;
    this.#admin = admin;
    this.port = port;
    this.kubeconfig = join(folder, 'admin.kubeconfig');
    this.#args = args;
  }

  async start(): Promise<void> {
    const preload = this.#preload;
    const child = onLeash(
      spawn(NODE, [...(preload === undefined ? [] : ['--import', preload]), MAIN, ...this.#args], {
        stdio: ['ignore', 'pipe', 'pipe', ...(preload === undefined ? [] : ['ipc' as const])],
      }),
    );
    this.#child = child;
    const ready = new Promise<void>((resolve, reject) => {
      const collect = (chunk: Buffer): void => {
        this.#log += chunk.toString();
        if (this.#log.includes('serving on https://')) resolve();
      };
      child.stdout?.on('data', collect);
      child.stderr?.on('data', collect);
      child.stdout?.on('data', (chunk: Buffer) => {
        this.output.stdout += chunk.toString();
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        this.output.stderr += chunk.toString();
      });
      child.once('exit', () => reject(new Error(`the server ended:\n${this.#log}`)));
      setTimeout(
        () => reject(new Error(`the server did not become ready:\n${this.#log}`)),
        START_TIMEOUT_MS,
      ).unref();
    });
    await ready;
    const read = (name: string): Buffer => readFileSync(join(this.folder, 'certificates', name));
    this.#agent = new Agent({
      ca: read('ca.crt'),
      cert: this.#admin?.cert ?? read('admin.crt'),
      key: this.#admin?.key ?? read('admin.key'),
      keepAlive: true,
    });
  }

  async ended(): Promise<number | null> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null;
    return new Promise((resolve) => child.once('exit', resolve));
  }

  ask(message: string): Promise<unknown> {
    const child = this.#child;
    if (child === undefined) throw new Error('the server is not running');
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error(`the server ended:\n${this.#log}`));
      child.once('exit', ended);
      child.once('message', (answer) => {
        child.removeListener('exit', ended);
        resolve(answer);
      });
      child.send(message, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    this.#log = '';
    this.#agent?.destroy();
    if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill(signal);
    return ended;
  }

  kubectl(args: string, input?: string, env: Record<string, string> = {}): Promise<ToolResult> {
    const options = {
      kubeconfig: this.kubeconfig,
      home: this.folder,
      env,
      ...(input === undefined ? {} : { input }),
    };
    return runTool(kubectlPath(), splitArguments(args), options);
  }

  kubectl33(args: string, input?: string): Promise<ToolResult> {
    const options = {
      kubeconfig: this.kubeconfig,
      home: this.folder,
      ...(input === undefined ? {} : { input }),
    };
    return runTool(kubectlPath(33), splitArguments(args), options);
  }

  helm(args: string): Promise<ToolResult> {
    return runTool(helmPath(), splitArguments(args), { kubeconfig: this.kubeconfig, home: this.folder });
  }

  request(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.#send(this.#agent, { method, path, body, headers });
  }

  bearer(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const agent = new Agent({ ca: readFileSync(join(this.folder, 'certificates', 'ca.crt')) });
    return this.#send(agent, {
      method,
      path,
      body,
      headers: { ...headers, authorization: `Bearer ${token}` },
    });
  }

  #send(
    agent: Agent | undefined,
    {
      method,
      path,
      body,
      headers,
    }: { method: string; path: string; body: unknown; headers: Record<string, string> },
  ): Promise<Answer> {
    const bytes =
      body === undefined
        ? undefined
        : Buffer.isBuffer(body)
          ? body
          : typeof body === 'string'
            ? body
            : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const options = { method, agent, host: '127.0.0.1', port: this.port, path };
      const length = String(Buffer.byteLength(bytes ?? ''));
      const type =
        bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': length };
      const request = httpsRequest({ ...options, headers: { ...type, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          resolve(answerOf(response, Buffer.concat(chunks).toString()));
        });
      });
      request.once('error', reject);
      request.end(bytes);
    });
  }

  watch(path: string): Watch {
    const events: Watch['events'] = [];
    const waiting: { count: number; resolve: () => void }[] = [];
    const options = { agent: this.#agent, host: '127.0.0.1', port: this.port, path };
    let end: () => void = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let rest = '';
    const request = httpsRequest(options, (response) => {
      response.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) events.push(JSON.parse(line));
        for (const waiter of waiting) if (events.length >= waiter.count) waiter.resolve();
      });
      response.once('close', end);
      response.on('error', end);
    });
    request.on('error', end);
    request.end();
    return {
      events,
      ended,
      reached: (count) =>
        events.length >= count
          ? Promise.resolve()
          : new Promise((resolve) => waiting.push({ count, resolve })),
      stop: () => request.destroy(),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Its JSON is parsed when it is looked at: most tests look at the code, or at a text of many megabytes. */
function answerOf({ statusCode = 0, headers }: IncomingMessage, text: string): Answer {
  let parsed: { readonly json: unknown } | undefined;
  return {
    ...{ code: statusCode, headers, text },
    get json() {
      parsed ??= { json: parseOr(text) };
      return parsed.json;
    },
  };
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Splits at spaces outside single quotes. */
function splitArguments(text: string): string[] {
  return [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
