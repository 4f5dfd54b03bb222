import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { EmbeddedPostgres, freePort } from '../src/cli/embedded/embedded-postgres.ts';
import { TEMPLATE, templateOf } from './global-setup.ts';
import { createDatabase, dropDatabase } from './kit/administer.ts';
import { vouchForCopy } from './kit/copied-cluster.ts';
import { chosenPostgres, isOldest } from './kit/postgres-version.ts';
import { sharedRootOf } from './kit/run-folder.ts';

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

/** A pool whose clients may hear that their database is dropped, also while they end: the pool does not listen to them then. */
export function withoutLoss(pool: pg.Pool): pg.Pool {
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** A fresh, migrated database on the run's shared server. `empty`: without the schema. */
export async function createTestDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const adminUrl = inject(isOldest() ? 'oldestUrl' : 'adminUrl');
  await createDatabase(adminUrl, name, options.empty === true ? undefined : TEMPLATE);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  const pool = withoutLoss(new pg.Pool({ connectionString: url.href, max: 4 }));
  const drop = async (): Promise<void> => {
    await pool.end();
    await dropDatabase(adminUrl, name);
  };
  return {
    url: url.href,
    query: async <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
      (await pool.query<Row>(text, values)).rows,
    drop,
    [Symbol.asyncDispose]: drop,
  };
}

export interface PrivatePostgres extends AsyncDisposable {
  readonly url: string;
  /** Has its cluster in `cluster`, and its password. */
  readonly folder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export interface PrivateSettings {
  /** Of PostgreSQL: `wal_keep_size=64`. */
  readonly settings?: readonly string[];
  /** Without the schema. */
  readonly empty?: boolean;
  /** Fills its folder, for one that is a copy of another. */
  readonly prepare?: (folder: string) => Promise<void>;
}

/** A PostgreSQL that one test may stop, kill and start again; its URL, of a migrated database, stays the same. */
export async function startPrivatePostgres({
  settings = [],
  empty = false,
  prepare,
}: PrivateSettings = {}): Promise<PrivatePostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-private-'));
  chmodSync(folder, 0o755);
  await prepare?.(folder);
  const port = await freePort();
  const postgres = new EmbeddedPostgres({
    folder,
    port,
    settings: ['fsync=off', ...settings],
    onProgress: () => {},
    sharedRoot: sharedRootOf(tmpdir()),
    template: inject('readyFolders')[isOldest() ? 'oldest' : 'chosen'],
    ...chosenPostgres(),
  });
  await postgres.start();
  const url = empty ? postgres.url : templateOf(postgres.url);
  if (prepare === undefined && !empty) await vouchForCopy(url);
  return {
    url,
    folder,
    start: () => postgres.start(),
    stop: () => postgres.stop(),
    kill: () => postgres.kill(),
    [Symbol.asyncDispose]: async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
