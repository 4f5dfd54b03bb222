import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { onLeash } from '../../kit/leash.ts';
import { Network } from './network.ts';
import { until } from './until.ts';

export const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const STOP_TIMEOUT_MS = 60_000;
const KEPT_OUTPUT = 200_000;

/** One API server as users run it, with a network between it and each node of the database, and one before it. */
export class ApiServer implements AsyncDisposable {
  readonly index: number;
  /** To the nodes of the database, in their order. */
  readonly databases: readonly Network[];
  readonly front: Network;
  readonly #folder: string;
  readonly #port: number;
  readonly #urls: readonly string[];
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  output = '';
  /** The program that it is from its next launch on. */
  main = MAIN;
  /** How far ahead of the right time its clock is when it is launched. */
  clockMs = 0;
  /** Its last lines, for each time that it ended without a signal of the run. */
  readonly crashes: string[] = [];

  static async open(options: {
    index: number;
    folder: string;
    nodes: readonly { port: number; urlAt(port: number): string }[];
    flags: readonly string[];
    /** Every node is a read server of it, as long as it is a standby. */
    readsStandbys: boolean;
  }): Promise<ApiServer> {
    const databases = await Promise.all(options.nodes.map(({ port }) => Network.open(port)));
    const port = await freePort();
    const urls = options.nodes.map((node, at) => node.urlAt(databases[at]?.port ?? 0));
    const front = await Network.open(port);
    const folder = join(options.folder, `server-${options.index}`);
    mkdirSync(folder);
    const flags = options.readsStandbys
      ? [...options.flags, `--kvstore-read-servers=${urls.join(',')}`]
      : options.flags;
    return new ApiServer({ ...options, flags, folder, databases, front, port, urls });
  }

  private constructor(options: {
    index: number;
    folder: string;
    databases: readonly Network[];
    front: Network;
    port: number;
    urls: readonly string[];
    flags: readonly string[];
  }) {
    this.index = options.index;
    this.databases = options.databases;
    this.front = options.front;
    this.#folder = options.folder;
    this.#port = options.port;
    this.#urls = options.urls;
    this.#flags = options.flags;
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** What identifies us, once it has served. */
  get identity(): { readonly ca: Buffer; readonly cert: Buffer; readonly key: Buffer } {
    const read = (name: string): Buffer => readFileSync(join(this.#folder, 'certificates', name));
    return { ca: read('ca.crt'), cert: read('admin.crt'), key: read('admin.key') };
  }

  /** Begins it; whether it serves is another thing. */
  launch(): void {
    const child = onLeash(
      spawn(
        process.execPath,
        [
          ...(this.clockMs === 0 ? [] : [`--import=${clockAheadBy(this.clockMs)}`]),
          this.main,
          `--data-dir=${this.#folder}`,
          '--bind-address=127.0.0.1',
          `--secure-port=${this.#port}`,
          `--kvstore-servers=${this.#urls.join(',')}`,
          ...this.#flags,
        ],
        { stdio: ['ignore', 'pipe', 'pipe'] },
      ),
    );
    this.#hasServed = false;
    this.#isStopping = false;
    const collect = (chunk: Buffer): void => {
      const text = chunk.toString();
      this.#hasServed ||= `${this.output.slice(-2000)}${text}`.includes('kubectl get namespaces');
      this.output = (this.output + text).slice(-KEPT_OUTPUT);
    };
    // So that what it said in its last life is not taken for what it says in this one.
    this.output += `${' '.repeat(2000)}\n--- launched\n`;
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    this.#child = child;
    child.once('exit', (code, signal) => {
      if (this.#child === child && !this.#isStopping)
        this.crashes.push(`ended with ${code ?? signal}: ${this.output.trimEnd().slice(-600)}`);
    });
  }

  #isStopping = false;
  #hasServed = false;

  async serves(timeoutMs = 180_000): Promise<void> {
    await until(
      `server ${this.index} serves`,
      async () => {
        if (this.isRunning && this.#hasServed) return true;
        throw new Error(`${this.isRunning ? 'it says' : 'it has ended'}: ${this.output.slice(-1000)}`);
      },
      timeoutMs,
    );
  }

  async start(): Promise<void> {
    this.launch();
    await this.serves();
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Answers how long it took. */
  async stop(name: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number> {
    const begunMs = performance.now();
    const child = this.#child;
    if (child === undefined || !this.isRunning) return 0;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    this.#isStopping = true;
    child.kill('SIGCONT');
    child.kill(name);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
    return performance.now() - begunMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
    for (const network of [...this.databases, this.front]) await network[Symbol.asyncDispose]();
  }
}

/** What a process imports before all else, so that `Date` is wrong in it, and in no other. */
const clockAheadBy = (ms: number): string =>
  `data:text/javascript,${encodeURIComponent(`
    const Right = Date;
    globalThis.Date = class Date extends Right {
      constructor(...of) {
        if (of.length === 0) super(Right.now() + ${ms});
        else super(...of);
      }
      static now() {
        return Right.now() + ${ms};
      }
    };
  `)}`;
