import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { type Account, postgresAccount } from './account.ts';
import {
  findBinaries,
  isReachable,
  type PostgresBinaries,
  reachableBinaries,
  SHARED_ROOT,
} from './binaries.ts';
import { claimFolder, releaseFolder } from './owner.ts';

/** A PostgreSQL of our own on loopback, for people who have none yet and for tests. */
export interface EmbeddedOptions {
  /** Holds the cluster, its password and its log. Made when it is not there. */
  readonly folder: string;
  /** 0: any free one. */
  readonly port: number;
  /** `name=value` settings on top of ours. */
  readonly settings: readonly string[];
  /** What takes long enough that a person should be told. */
  readonly onProgress: (message: string) => void;
}

const USER = 'pgapiserver';
const DATABASE = 'postgres';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const PORT_ATTEMPTS = 3;
const POLL_MS = 10;

/** wal_level and the slots are what watches need; the rest suits one busy application on a small machine. */
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

export class EmbeddedPostgres {
  readonly #options: EmbeddedOptions;
  readonly #account: Account | undefined;
  readonly #cluster: string;
  readonly #log: string;
  #process: ChildProcess | undefined;
  #url = '';

  constructor(options: EmbeddedOptions) {
    this.#options = options;
    this.#account = postgresAccount();
    const folder = clusterFolder(resolve(options.folder), this.#account);
    this.#cluster = join(folder, 'cluster');
    this.#log = join(folder, 'postgres.log');
  }

  /** A postgres:// URL with password. Only known once started. */
  get url(): string {
    return this.#url;
  }

  /** For people with psql; readable by its owner alone. */
  writeUrl(path: string): void {
    writeFileSync(path, `${this.#url}\n`, { mode: 0o600 });
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** @throws Error, one line for a person */
  async start(): Promise<void> {
    claimFolder(dirname(this.#cluster));
    const binaries = await this.#findBinaries();
    const password = await this.#initialize(binaries);
    await this.#endOrphan();
    const port = await this.#launchOnPort(binaries);
    this.#url = `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}`;
  }

  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child !== undefined && !hasEnded(child)) {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGINT');
      const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    }
    releaseFolder(dirname(this.#cluster));
  }

  /** As a crash would end it. For tests of what survives one. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || hasEnded(child)) return;
    const ended = new Promise((done) => child.once('exit', done));
    child.kill('SIGQUIT');
    await ended;
  }

  async #findBinaries(): Promise<PostgresBinaries> {
    const binaries = await findBinaries();
    if (this.#account === undefined) return binaries;
    const version = createHash('sha256').update(binaries.postgres).digest('hex').slice(0, 8);
    return reachableBinaries(binaries, version);
  }

  /**
   * Makes the cluster unless it is there. It is made under another name and renamed when complete, so that one which was
   * interrupted is never taken for a whole one.
   */
  async #initialize({ initdb }: PostgresBinaries): Promise<string> {
    const passwordFile = join(dirname(this.#cluster), 'password');
    if (existsSync(this.#cluster)) {
      if (existsSync(passwordFile)) return readFileSync(passwordFile, 'utf8').trim();
      throw new Error(`${this.#cluster} was not made by pg-apiserver: there is no password beside it`);
    }
    this.#options.onProgress('creating a PostgreSQL cluster');
    const partial = `${this.#cluster}.partial`;
    rmSync(partial, { recursive: true, force: true });
    const password = randomBytes(18).toString('base64url');
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    this.#own(passwordFile);
    const args = ['-D', partial, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
    await run(initdb, [...args, '-E', 'UTF8', '--locale=C', '--no-sync'], this.#account);
    renameSync(partial, this.#cluster);
    return password;
  }

  #own(path: string): void {
    if (this.#account !== undefined) chownSync(path, this.#account.uid, this.#account.gid);
  }

  /** A port that was free a moment ago may be taken by the time PostgreSQL binds it; another is tried then. */
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

  /** A cluster whose server was killed without stopping it is stopped first: it knows nothing of our port. */
  async #endOrphan(): Promise<void> {
    const pid = readPostmasterPid(this.#cluster);
    if (pid === undefined || !isPostgres(pid, this.#cluster)) return;
    this.#options.onProgress(`stopping the PostgreSQL that an earlier run left behind (process ${pid})`);
    process.kill(pid, 'SIGINT');
    const deadline = Date.now() + STOP_TIMEOUT_MS;
    while (isPostgres(pid, this.#cluster)) {
      if (Date.now() > deadline)
        throw new Error(`PostgreSQL (process ${pid}) in ${this.#cluster} does not stop`);
      await sleep(POLL_MS);
    }
  }

  async #launch({ postgres }: PostgresBinaries, port: number): Promise<void> {
    const log = openSync(this.#log, 'a', 0o600);
    const settings = [...SETTINGS, `port=${port}`, ...this.#options.settings];
    const child = spawn(postgres, ['-D', this.#cluster, ...settings.flatMap((setting) => ['-c', setting])], {
      ...this.#account,
      // A process group of its own: ctrl-C reaches the server alone, which stops PostgreSQL when it is done with it.
      detached: true,
      stdio: ['ignore', log, log],
      cwd: dirname(this.#cluster),
    });
    closeSync(log);
    this.#process = child;
    await this.#untilReady(child);
    child.unref();
  }

  /** The eighth line of postmaster.pid says `ready` when connections are taken; pg_ctl waits for the same. */
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
      await sleep(POLL_MS);
    }
  }

  #isReady(pid: number | undefined): boolean {
    const lines = readPostmaster(this.#cluster);
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  }
}

/** A process that could not be started has ended too. */
function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Where the account can reach: as asked, when it may pass through the folders above, or else below /var/lib. */
function clusterFolder(wanted: string, account: Account | undefined): string {
  const reachable = account === undefined || isReachable(wanted);
  const digest = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const folder = reachable ? wanted : join(SHARED_ROOT, digest);
  mkdirSync(folder, { recursive: true, mode: account === undefined ? 0o700 : 0o755 });
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  return folder;
}

function readPostmaster(cluster: string): string[] {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
}

function readPostmasterPid(cluster: string): number | undefined {
  const pid = Number(readPostmaster(cluster)[0]);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

/** Process ids are used again: only a process that runs on this very cluster is taken for its server. */
function isPostgres(pid: number, cluster: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(cluster);
  } catch {
    return false;
  }
}

function run(command: string, args: readonly string[], account: Account | undefined): Promise<void> {
  return new Promise((done, reject) => {
    const options = { ...account, cwd: '/', env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
    execFile(command, [...args], options, (error, _stdout, stderr) => {
      if (error === null) done();
      else reject(new Error(`${command} failed: ${stderr.trim().split('\n').at(-1) ?? error.message}`));
    });
  });
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

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
