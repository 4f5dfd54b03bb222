import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { EmbeddedPostgres, freePort } from '../../../src/cli/embedded/embedded-postgres.ts';
import { until } from './until.ts';

const run = promisify(execFile);

const SETTINGS = [
  // What is killed here are processes; the machine stays.
  'fsync=off',
  'full_page_writes=off',
  'shared_buffers=32MB',
  'max_connections=120',
  'wal_keep_size=256MB',
  'hot_standby=on',
  // A standby that waits for queries of ours would be late for reasons of our own.
  'max_standby_streaming_delay=1s',
  'wal_receiver_status_interval=1s',
  'wal_retrieve_retry_interval=500ms',
];

/** One PostgreSQL of the group. Its port stays the same for its whole life, as primary and as standby. */
export class PostgresNode {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly #postgres: EmbeddedPostgres;
  #pid: number | undefined;

  static async create(name: string, parent: string): Promise<PostgresNode> {
    const folder = join(parent, name);
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    return new PostgresNode(name, folder, await freePort());
  }

  private constructor(name: string, folder: string, port: number) {
    this.name = name;
    this.folder = folder;
    this.port = port;
    this.#postgres = new EmbeddedPostgres({
      ...{ folder, port, settings: SETTINGS, onProgress: () => {} },
      sharedRoot: join(folder, '..', 'shared'),
    });
  }

  get url(): string {
    return this.#postgres.url;
  }

  /** The URL with another port, for connections through a network. */
  urlAt(port: number): string {
    const url = new URL(this.url);
    url.port = String(port);
    return `${url.href}?sslmode=disable`;
  }

  /** Children of a postmaster that was killed may hold its memory for a moment. */
  async start(): Promise<void> {
    await until(`${this.name} starts`, () => this.#postgres.start().then(() => true), 30_000);
    this.#pid = this.#postgres.pid;
  }

  /** Answers how long it took: fast shutdown, as for a minor upgrade. */
  async stop(): Promise<number> {
    const begunMs = performance.now();
    this.resume();
    await this.#postgres.stop();
    this.#pid = undefined;
    return performance.now() - begunMs;
  }

  /** kill -9 of all its processes, or of one of its backends, which makes PostgreSQL begin afresh by itself. */
  async kill(): Promise<void> {
    const pids = this.#processes();
    for (const pid of pids) signal(pid, 'SIGKILL');
    await until('the killed processes end', async () => pids.every((pid) => !isAlive(pid)), 10_000);
    await this.#postgres.stop();
    this.#pid = undefined;
  }

  async killBackend(): Promise<void> {
    const found = await this.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'pg-apiserver commits%' LIMIT 1",
    );
    for (const { pid } of found) signal(pid, 'SIGKILL');
  }

  /** All its processes stand still, as on a machine that is out of memory or moved. */
  suspend(): void {
    for (const pid of this.#processes()) signal(pid, 'SIGSTOP');
  }

  resume(): void {
    for (const pid of this.#processes()) signal(pid, 'SIGCONT');
  }

  #processes(): number[] {
    const pid = this.#pid;
    return pid === undefined ? [] : [pid, ...childrenOf(pid)];
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({
      connectionString: this.url,
      connectionTimeoutMillis: 10_000,
      query_timeout: 20_000,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end().catch(() => {});
    }
  }

  /** One after the other on a connection each: ALTER SYSTEM does not run in a transaction. */
  async configure(settings: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, value] of Object.entries(settings))
      await this.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await this.query('SELECT pg_reload_conf()');
    for (const [name, value] of Object.entries(settings))
      await until(`${this.name} has ${name} = ${value}`, async () => {
        const [row] = await this.query<{ value: string }>(`SELECT current_setting('${name}') AS value`);
        return row?.value === value;
      });
  }

  /** Becomes a standby of a node that runs, known to it as `role`; its own files go. */
  async copyFrom(primary: PostgresNode, role: string, port: number): Promise<void> {
    const cluster = join(this.folder, 'cluster');
    const session = new pg.Client({ connectionString: primary.url });
    session.on('error', () => {});
    await session.connect();
    try {
      await session.query("SELECT pg_backup_start('standby', true)");
      await run('rm', ['-rf', cluster]);
      await run('cp', ['-a', join(primary.folder, 'cluster'), cluster]).catch(ignoreVanished);
      const { rows } = await session.query<{ labelfile: string }>(
        'SELECT labelfile FROM pg_backup_stop(false)',
      );
      await writeFile(join(cluster, 'backup_label'), rows[0]?.labelfile ?? '');
    } finally {
      await session.end();
    }
    await run('rm', ['-rf', join(cluster, 'postmaster.pid'), join(cluster, 'pg_replslot')]);
    mkdirSync(join(cluster, 'pg_replslot'), { mode: 0o700 });
    await run('cp', ['-a', join(primary.folder, 'password'), join(this.folder, 'password')]);
    await writeFile(join(cluster, 'standby.signal'), '');
    const { username, password } = new URL(primary.url);
    const source = `host=127.0.0.1 port=${port} user=${username} password=${password} application_name=${role}`;
    const timeouts = 'connect_timeout=3 keepalives_idle=2 keepalives_interval=1 keepalives_count=3';
    const own = `synchronous_standby_names = ''\nprimary_conninfo = '${source} ${timeouts}'\n`;
    await appendFile(join(cluster, 'postgresql.auto.conf'), own);
    await run('chown', ['-R', `--reference=${cluster}`, cluster]);
    await this.start();
  }

  /** Of a node that does not run. Returns the folder of the copy. */
  async snapshot(): Promise<string> {
    const copy = join(this.folder, 'snapshot');
    await run('rm', ['-rf', copy]);
    await run('cp', ['-a', join(this.folder, 'cluster'), copy]);
    return copy;
  }

  /** Puts a snapshot in place of what the node has. It must not run. */
  async restore(snapshot: string): Promise<void> {
    const cluster = join(this.folder, 'cluster');
    await run('rm', ['-rf', cluster]);
    await run('mv', [snapshot, cluster]);
    await run('rm', ['-f', join(cluster, 'postmaster.pid')]);
  }

  async promote(): Promise<void> {
    await this.query('SELECT pg_promote()');
    await until(`${this.name} takes writes`, async () => {
      const [row] = await this.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
      return row?.standby === false;
    });
  }
}

/** A file that went while it was to be copied is in the log that the copy is completed from. */
function ignoreVanished(error: unknown): void {
  const said = error instanceof Error ? error.message : String(error);
  const lines = said.split('\n').filter((line) => line.startsWith('cp:'));
  if (lines.length === 0 || !lines.every((line) => line.includes('No such file'))) throw error;
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => statOf(pid)?.parent === parent);
}

function statOf(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    const [state = '', parent = '0'] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  const state = statOf(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}
