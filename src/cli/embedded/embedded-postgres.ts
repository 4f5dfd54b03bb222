import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, closeSync, lstatSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { errorText } from '../../util/error-text.ts';
import { makeFolder } from '../../util/make-folder.ts';
import { aborted, keepDoing, pause } from '../../util/pause.ts';
import { type Account, postgresAccount } from './account.ts';
import {
  findBinaries,
  isReachable,
  type PostgresBinaries,
  reachableBinaries,
  SHARED_ROOT,
} from './binaries.ts';
import { copyFolder } from './cluster-template.ts';
import { BELONGS_TO, tidySharedRoot } from './leftovers.ts';
import { claimFolder, releaseFolder } from './owner.ts';
import {
  createAccountFolder,
  ensureRootFolder,
  openToAppend,
  readPlainFile,
  replaceFile,
} from './private-files.ts';
import { belongsTo, interrupt, removeFolder, run } from './run-as.ts';
import { watchPostgres } from './watchdog.ts';

/** A PostgreSQL on loopback, for users without a database and for tests. */
interface EmbeddedOptions {
  /** Holds the cluster, its password and its log. Created when missing. */
  readonly folder: string;
  /** 0: any free port. */
  readonly port: number;
  /** `name=value` settings on top of ours. */
  readonly settings: readonly string[];
  /** Reports steps that take noticeable time. */
  readonly onProgress: (message: string) => void;
  /** Another package with PostgreSQL; see {@link findBinaries}. */
  readonly from?: string;
  /** A folder of an earlier one that has ended in order, to begin with a copy of rather than with an empty cluster. */
  readonly template?: string;
  /** Root's folder for files that the account could not reach; default below /var/lib. */
  readonly sharedRoot?: string;
}

const USER = 'pgapiserver';
const DATABASE = 'postgres';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const PORT_ATTEMPTS = 3;
const POLL_MS = 10;
/** What a killed PostgreSQL leaves behind ends within this time: until then, the next one refuses to start. */
const RESTART_PAUSE_MS = 1000;

/** Watches need wal_level and the slots; the rest suits one busy application on a small machine. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'wal_level=logical',
  'max_wal_senders=32',
  'max_replication_slots=32',
  'max_connections=200',
  'shared_buffers=128MB',
  'max_wal_size=2GB',
  'checkpoint_timeout=15min',
  'jit=off',
  'autovacuum_naptime=15s',
  'log_min_messages=warning',
];

/**
 * Runs PostgreSQL in a folder. The folder belongs to us, or to root when root starts it; only `cluster` in it belongs to
 * PostgreSQL's account. PostgreSQL ends with this process, however that ends (watchdog.ts); where that fails, the next start
 * finds it.
 */
export class EmbeddedPostgres {
  readonly #options: EmbeddedOptions;
  readonly #account: Account | undefined;
  readonly #sharedRoot: string;
  readonly #folder: string;
  readonly #cluster: string;
  readonly #log: string;
  #process: ChildProcess | undefined;
  /** Ends what {@link keepRunning} began. */
  readonly #ending = new AbortController();
  #keeping: Promise<void> = Promise.resolve();
  #url = '';

  constructor(options: EmbeddedOptions) {
    this.#options = options;
    this.#account = postgresAccount();
    this.#sharedRoot = options.sharedRoot ?? SHARED_ROOT;
    this.#folder = clusterFolder(resolve(options.folder), this.#account, this.#sharedRoot);
    this.#cluster = join(this.#folder, 'cluster');
    this.#log = join(this.#folder, 'postgres.log');
  }

  /** What is a template for others: below the shared root where the account could not reach the wanted folder. */
  get folder(): string {
    return this.#folder;
  }

  /** A postgres:// URL with password. Only known once started. */
  get url(): string {
    return this.#url;
  }

  /** Writes the URL for psql users; only its owner can read it. */
  writeUrl(path: string): void {
    replaceFile(path, `${this.#url}\n`);
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** @throws Error with a message of one line */
  async start(): Promise<void> {
    this.#prepareFolder();
    claimFolder(this.#folder);
    const binaries = await this.#findBinaries();
    const password = await this.#initialize(binaries);
    await this.#endOrphan();
    const port = await this.#launchOnPort(binaries);
    this.#url = `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`;
  }

  #prepareFolder(): void {
    const wanted = resolve(this.#options.folder);
    if (this.#account === undefined) {
      makeFolder(this.#folder, { mode: 0o700 });
      return;
    }
    ensureRootFolder(this.#folder, this.#account);
    if (this.#folder !== wanted) {
      // Marks a data directory that still exists.
      makeFolder(wanted, { mode: 0o700 });
      replaceFile(join(this.#folder, BELONGS_TO), `${wanted}\n`);
    }
    for (const line of tidySharedRoot(this.#sharedRoot)) this.#options.onProgress(line);
  }

  /**
   * Starts PostgreSQL again, on its port, whenever it ends by itself, as when the kernel kills it for its memory. It recovers
   * what was committed.
   */
  keepRunning(): void {
    const { signal } = this.#ending;
    const { onProgress } = this.#options;
    // A start that the end has cut off is no trouble.
    const onError = (error: unknown): void => {
      if (!signal.aborted) onProgress(errorText(error));
    };
    this.#keeping = keepDoing(() => this.#startAgain(signal), signal, { retryMs: RESTART_PAUSE_MS, onError });
  }

  async #startAgain(signal: AbortSignal): Promise<void> {
    const child = this.#process;
    if (child !== undefined && !hasEnded(child)) {
      await Promise.race([endOf(child), aborted(signal)]);
      if (signal.aborted) return;
      this.#options.onProgress(
        `PostgreSQL ended (${child.signalCode ?? `code ${child.exitCode}`}): starts again`,
      );
    }
    await this.#launch(await this.#findBinaries(), Number(new URL(this.#url).port));
    this.#options.onProgress('PostgreSQL is running again');
  }

  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  async stop(): Promise<void> {
    await this.#end('SIGINT');
    releaseFolder(this.#folder);
  }

  /** Kills PostgreSQL, as a crash would. For tests. */
  async kill(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  async #end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    this.#ending.abort();
    const child = this.#process;
    this.#process = undefined;
    if (child !== undefined && !hasEnded(child)) {
      const ended = endOf(child);
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    }
    await this.#keeping;
  }

  async #findBinaries(): Promise<PostgresBinaries> {
    const binaries = await findBinaries(this.#options.from);
    return this.#account === undefined ? binaries : reachableBinaries(binaries, this.#sharedRoot);
  }

  /**
   * Creates the cluster unless it exists. Creates it under another name and renames it when complete, so that an interrupted
   * one never looks complete.
   */
  async #initialize({ initdb }: PostgresBinaries): Promise<string> {
    const passwordFile = join(this.#folder, 'password');
    const cluster = lstatSync(this.#cluster, { throwIfNoEntry: false });
    if (cluster !== undefined) {
      const password = readPlainFile(passwordFile)?.trim();
      const isOurs = cluster.isDirectory() && cluster.uid === (this.#account?.uid ?? cluster.uid);
      if (isOurs && password !== undefined) return password;
      const why = isOurs
        ? 'there is no password beside it'
        : 'it is not a folder of the account it would run as';
      throw new Error(`${this.#cluster} was not made by pg-apiserver: ${why}`);
    }
    const { template } = this.#options;
    if (template !== undefined) return this.#copyCluster(template);
    this.#options.onProgress('creating a PostgreSQL cluster');
    const password = randomBytes(18).toString('base64url');
    replaceFile(passwordFile, `${password}\n`);
    await this.#createCluster(initdb, password);
    return password;
  }

  /** Its password is that of the template. */
  async #copyCluster(template: string): Promise<string> {
    const password = readPlainFile(join(template, 'password'))?.trim();
    if (password === undefined) throw new Error(`${template} has no cluster to copy: there is no password`);
    const partial = `${this.#cluster}.partial`;
    await removeFolder(partial, this.#account);
    copyFolder(join(template, 'cluster'), partial);
    chmodSync(partial, 0o700);
    if (this.#account !== undefined) {
      const { uid, gid } = this.#account;
      await run('chown', ['-R', '-h', `${uid}:${gid}`, partial], undefined);
    }
    replaceFile(join(this.#folder, 'password'), `${password}\n`);
    renameSync(partial, this.#cluster);
    return password;
  }

  async #createCluster(initdb: string, password: string): Promise<void> {
    const partial = `${this.#cluster}.partial`;
    // Belongs to the account while initdb needs it.
    const passwordFile = join(this.#folder, 'password.initdb');
    await removeFolder(partial, this.#account);
    createAccountFolder(partial, this.#account);
    replaceFile(passwordFile, `${password}\n`, this.#account);
    try {
      const args = ['-D', partial, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
      await run(initdb, [...args, '-E', 'UTF8', '--locale=C', '--no-sync'], this.#account);
    } finally {
      rmSync(passwordFile, { force: true });
    }
    renameSync(partial, this.#cluster);
  }

  /** Tries another port if PostgreSQL finds the free one taken meanwhile. */
  async #launchOnPort(binaries: PostgresBinaries): Promise<number> {
    const { port } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const chosen = port === 0 ? await freePort() : port;
      try {
        await this.#launch(binaries, chosen);
        return chosen;
      } catch (error) {
        if (port !== 0 || attempt === PORT_ATTEMPTS) throw error;
      }
    }
  }

  /** Stops the PostgreSQL of a killed server: it does not use our port. */
  async #endOrphan(): Promise<void> {
    const pid = readPostmasterPid(this.#cluster);
    if (pid === undefined || !this.#isPostgres(pid)) return;
    this.#options.onProgress(`stopping the PostgreSQL that an earlier run left behind (process ${pid})`);
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    // It may have ended by itself.
    await interrupt(pid, this.#account).catch(() => {});
    while (this.#isPostgres(pid)) {
      if (Date.now() > deadline)
        throw new Error(`PostgreSQL (process ${pid}) in ${this.#cluster} does not stop`);
      await pause(POLL_MS);
    }
  }

  /** Process ids are reused: checks that the process runs on this cluster. */
  #isPostgres(pid: number): boolean {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return args.includes(this.#cluster) && belongsTo(pid, this.#account);
    } catch {
      return false;
    }
  }

  async #launch({ postgres }: PostgresBinaries, port: number): Promise<void> {
    const log = openToAppend(this.#log);
    const settings = [...SETTINGS, `port=${port}`, ...this.#options.settings];
    const child = spawn(postgres, ['-D', this.#cluster, ...settings.flatMap((setting) => ['-c', setting])], {
      ...this.#account,
      // In a process group of its own: ctrl-C reaches only the server, which stops PostgreSQL when it is done.
      detached: true,
      stdio: ['ignore', log, log],
      cwd: this.#folder,
    });
    closeSync(log);
    this.#process = child;
    if (child.pid !== undefined) this.#watch(child, child.pid);
    await this.#untilReady(child);
    child.unref();
  }

  #watch(child: ChildProcess, pid: number): void {
    const watchdog = watchPostgres(pid, this.#cluster, this.#account);
    child.once('exit', () => watchdog.close());
  }

  /** Line eight of postmaster.pid says `ready` when connections are accepted; pg_ctl waits for the same. */
  async #untilReady(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    while (!this.#isReady(child.pid)) {
      if (hasEnded(child) || failure !== undefined) {
        throw new Error(`PostgreSQL did not start: ${failure?.message ?? lastLine(this.#log)}`);
      }
      if (Date.now() > deadline) throw new Error(`PostgreSQL did not become ready; see ${this.#log}`);
      await pause(POLL_MS);
    }
  }

  #isReady(pid: number | undefined): boolean {
    const lines = readPostmaster(this.#cluster);
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  }
}

const endOf = (child: ChildProcess): Promise<unknown> => new Promise((done) => child.once('exit', done));

/** A process that failed to start has also ended. */
function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** The wanted folder, if the account may traverse its parents, or else one below the shared root. */
function clusterFolder(wanted: string, account: Account | undefined, sharedRoot: string): string {
  if (account === undefined || isReachable(wanted)) return wanted;
  return join(sharedRoot, createHash('sha256').update(wanted).digest('hex').slice(0, 12));
}

const readPostmaster = (cluster: string): string[] =>
  readPlainFile(join(cluster, 'postmaster.pid'))?.split('\n') ?? [];

function readPostmasterPid(cluster: string): number | undefined {
  const pid = Number(readPostmaster(cluster)[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function lastLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '';
  } catch {
    return `see ${file}`;
  }
}

export function freePort(): Promise<number> {
  return new Promise((done, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
