import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { EmbeddedPostgres, freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import type { Target } from '../load/jobs.ts';
import { readKubeconfig } from './kubeconfig.ts';

export interface ServerFlags {
  readonly nodeFlags: readonly string[];
  readonly serverFlags: readonly string[];
}

export interface OwnServerOptions extends ServerFlags {
  /** Where its data is kept when it is disposed of. Undefined: a folder of its own, which goes. */
  readonly keptIn?: string;
}

const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
/** Some of them have a million objects to load. */
const START_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 20_000;

/**
 * The server as it is built, on an embedded PostgreSQL with the settings users get, fsync included. PostgreSQL is started
 * here, so that its processes are known and it stays when the server is started again.
 */
export class OwnServer implements AsyncDisposable {
  readonly #folder: string;
  readonly #postgres: EmbeddedPostgres;
  readonly #options: OwnServerOptions;
  #child: ChildProcess | undefined;

  constructor(options: OwnServerOptions) {
    this.#options = options;
    const { keptIn } = options;
    if (keptIn !== undefined) mkdirSync(keptIn, { recursive: true });
    this.#folder = keptIn ?? mkdtempSync(join(tmpdir(), 'pg-apiserver-bench-'));
    // The account PostgreSQL runs under when we are root must be able to pass.
    chmodSync(this.#folder, 0o755);
    this.#postgres = this.#database([]);
  }

  #database(settings: readonly string[]): EmbeddedPostgres {
    const folder = join(this.#folder, 'postgres');
    return new EmbeddedPostgres({ folder, port: 0, settings, onProgress: () => {} });
  }

  /** Stops server and database, and hands out the URL of the same one with other settings, for as long as the work takes. */
  async withSettings<Result>(
    settings: readonly string[],
    work: (url: string) => Promise<Result>,
  ): Promise<Result> {
    await this.stop();
    await this.#postgres.stop();
    const other = this.#database(settings);
    await other.start();
    try {
      return await work(other.url);
    } finally {
      await other.stop();
    }
  }

  get databaseUrl(): string {
    return this.#postgres.url;
  }

  get pids(): { server: number[]; database: number[] } {
    const known = (pid: number | undefined): number[] => (pid === undefined ? [] : [pid]);
    return { server: known(this.#child?.pid), database: known(this.#postgres.pid) };
  }

  async startDatabase(): Promise<void> {
    if (this.#postgres.pid === undefined) await this.#postgres.start();
  }

  /** Resolves when the server says that it serves. */
  async start(): Promise<Target> {
    await this.startDatabase();
    const child = await this.#spawn(this.#folder);
    this.#child = child;
    await untilServing(child);
    return readKubeconfig(join(this.#folder, 'admin.kubeconfig'));
  }

  /** Another server of the same database, until it is disposed of. */
  async startBeside(): Promise<AsyncDisposable & { readonly target: Target }> {
    const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-bench-'));
    const child = await this.#spawn(folder);
    const end = async (): Promise<void> => {
      await stop(child);
      rmSync(folder, { recursive: true, force: true });
    };
    try {
      await untilServing(child);
      return { target: readKubeconfig(join(folder, 'admin.kubeconfig')), [Symbol.asyncDispose]: end };
    } catch (error) {
      await end();
      throw error;
    }
  }

  async #spawn(folder: string): Promise<ChildProcess> {
    const port = await freePort();
    const args = [
      `--data-dir=${folder}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--kvstore-servers=${this.#postgres.url}`,
      ...this.#options.serverFlags,
    ];
    return spawn(process.execPath, [...this.#options.nodeFlags, MAIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child !== undefined) await stop(child);
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.#postgres.url });
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.#postgres.stop();
    if (this.#options.keptIn === undefined) rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

function untilServing(child: ChildProcess): Promise<void> {
  let log = '';
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`the server ${why}:\n${log.slice(-2000)}`));
    const timer = setTimeout(() => fail('did not become ready'), START_TIMEOUT_MS);
    const collect = (chunk: Buffer): void => {
      // The later log, which may be long, is not read.
      if (log.length < 100_000) log += chunk.toString();
      if (!log.includes('kubectl get namespaces')) return;
      clearTimeout(timer);
      resolve();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.once('error', ({ message }) => {
      clearTimeout(timer);
      fail(message);
    });
    child.once('exit', (code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
}
