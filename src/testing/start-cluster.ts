/// <reference lib="esnext.disposable" preserve="true" />
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Baseline } from './reset.ts';

export interface ClusterOptions {
  /** A postgres:// URL of a database for this cluster alone; without one, the cluster brings its own PostgreSQL. */
  readonly databaseUrl?: string;
  /** Further flags of pg-apiserver, such as `--runtime-config=api/all=true`. */
  readonly flags?: readonly string[];
  /** For how long the start may take; a minute. */
  readonly timeoutMs?: number;
}

/** A cluster with RBAC, which ends with this process, however that ends. */
export interface Cluster {
  /** `https://127.0.0.1:40123` */
  readonly url: string;
  /** The authority that verifies the server, in PEM form. */
  readonly ca: string;
  /** The administrator's kubeconfig: its text. */
  readonly kubeconfig: string;
  /** Its path, for KUBECONFIG. */
  readonly kubeconfigPath: string;
  /**
   * Puts all objects back as they were after the start. These are ordinary writes: watches go on, and see them. Finalizers of what
   * goes are removed. Controllers that write meanwhile are to be stopped before.
   * @throws Error when the cluster does not become what it was
   */
  reset(): Promise<void>;
  /** Ends the server and its PostgreSQL, and removes their files. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));
const USUAL_TIMEOUT_MS = 60_000;
const POLL_MS = 10;

/**
 * Starts a cluster for tests. A fixture for Vitest, which test files import:
 *
 *     import { afterAll, afterEach, beforeAll } from 'vitest';
 *     import { type Cluster, startCluster } from 'pg-apiserver/testing';
 *
 *     export let cluster: Cluster;
 *     beforeAll(async () => {
 *       cluster = await startCluster();
 *     }, 60_000);
 *     afterEach(() => cluster.reset());
 *     afterAll(() => cluster.stop());
 *
 * @throws Error with what the server said, when it does not start
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-testing-'));
  // Root's PostgreSQL runs as another account, which passes.
  chmodSync(folder, 0o711);
  const server = new Server(folder, options);
  try {
    return await server.becomeReady();
  } catch (error) {
    await server.stop();
    throw error;
  }
}

class Server {
  readonly #folder: string;
  readonly #timeoutMs: number;
  readonly #readyFile: string;
  readonly #log: string;
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;

  constructor(folder: string, { databaseUrl, flags = [], timeoutMs = USUAL_TIMEOUT_MS }: ClusterOptions) {
    this.#folder = folder;
    this.#timeoutMs = timeoutMs;
    this.#readyFile = join(folder, 'ready.json');
    this.#log = join(folder, 'server.log');
    const log = openSync(this.#log, 'a');
    const database = databaseUrl === undefined ? '--warm-start' : `--kvstore-servers=${databaseUrl}`;
    // One thread: a cluster for tests starts quickly and stays small.
    const size = ['--secure-port=0', '--serving-threads=1'];
    const own = [...size, '--exit-with-parent', `--ready-file=${this.#readyFile}`, database];
    this.#process = spawn(
      process.execPath,
      [MAIN, 'start', `--data-dir=${join(folder, 'data')}`, ...own, ...flags],
      { stdio: ['ignore', log, log] },
    );
    closeSync(log);
    this.#ended = new Promise((done) => this.#process.once('exit', () => done()));
    // A test that forgets to stop it can end all the same.
    this.#process.unref();
  }

  async becomeReady(): Promise<Cluster> {
    const deadline = Date.now() + this.#timeoutMs;
    while (!existsSync(this.#readyFile)) {
      const { exitCode, signalCode } = this.#process;
      if (exitCode !== null || signalCode !== null) throw this.#failure('ended before it was ready');
      if (Date.now() > deadline) throw this.#failure(`was not ready in ${this.#timeoutMs} ms`);
      await pause(POLL_MS);
    }
    const { url, ca, kubeconfig } = JSON.parse(readFileSync(this.#readyFile, 'utf8'));
    const certificates = join(this.#folder, 'data', 'certificates');
    const read = (path: string): string => readFileSync(path, 'utf8');
    const baseline = await Baseline.take({
      ...{ url, ca: read(ca) },
      certificate: read(join(certificates, 'admin.crt')),
      key: read(join(certificates, 'admin.key')),
    });
    const stop = (): Promise<void> => this.stop();
    return {
      ...{ url, ca: read(ca), kubeconfig: read(kubeconfig), kubeconfigPath: kubeconfig },
      ...{ reset: () => baseline.restore(), stop, [Symbol.asyncDispose]: stop },
    };
  }

  async stop(): Promise<void> {
    this.#process.ref();
    if (this.#process.kill('SIGTERM')) await this.#ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #failure(what: string): Error {
    return new Error(`pg-apiserver ${what}:\n${readFileSync(this.#log, 'utf8')}`);
  }
}
