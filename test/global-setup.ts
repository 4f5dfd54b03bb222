import { dirname, join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { EmbeddedPostgres } from '../src/cli/embedded/embedded-postgres.ts';
import { readMigrations } from '../src/storage/postgres/migration/migration.ts';
import { migrate } from '../src/storage/postgres/migration/run-migrations.ts';
import { hidePasswords } from '../src/util/hidden-passwords.ts';
import { dropDatabase } from './kit/administer.ts';
import { vouchForCopy } from './kit/copied-cluster.ts';
import { chosenPostgres, fetchPostgres } from './kit/postgres-version.ts';
import { databasesLeftIn, openRunFolder, quickestFolder, sharedRootOf } from './kit/run-folder.ts';

/**
 * One PostgreSQL for the whole run: TEST_DATABASE_URL if set, else a container if a Docker engine answers, else the
 * embedded one. A migrated template database makes each test file's own database a matter of milliseconds. Embedded ones, those
 * that single tests start too, are copies of a cluster that has it.
 *
 * All that tests put into the temporary folder goes into one of the run's, in memory if there is room, and goes with it.
 */
export const TEMPLATE = 'pg_apiserver_template';

declare module 'vitest' {
  export interface ProvidedContext {
    adminUrl: string;
    /** Of the oldest PostgreSQL that is supported. */
    oldestUrl: string;
    /** Folders of embedded ones to copy. */
    readyFolders: { readonly chosen: string; readonly oldest: string };
  }
}

interface Server {
  readonly url: string;
  /** For a person: which one it is, and why. */
  readonly choice: string;
  stop(): Promise<void>;
}

/** A cluster to copy, and what runs it. */
interface Ready {
  readonly template: string;
  readonly from?: string;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = openRunFolder(quickestFolder());
  const servers: Server[] = [];
  const end = async (): Promise<void> => {
    for (const server of servers) await server.stop();
    folder.remove();
  };
  const start = async (starting: Promise<Server>): Promise<Server> => {
    const server = await starting;
    servers.push(server);
    return server;
  };
  try {
    const [ready, oldestReady] = await Promise.all([
      makeReady(join(folder.path, 'ready'), chosenPostgres()),
      makeReady(join(folder.path, 'oldest-ready'), { from: fetchPostgres('14') }),
    ]);
    const [server, oldest] = await Promise.all([
      start(startServer(folder.path, ready)),
      start(startEmbedded(join(folder.path, 'oldest'), oldestReady)),
    ]);
    console.log(`PostgreSQL of the tests: ${server.choice}`);
    project.provide('adminUrl', server.url);
    project.provide('oldestUrl', oldest.url);
    project.provide('readyFolders', { chosen: ready.template, oldest: oldestReady.template });
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

async function startServer(folder: string, ready: Ready): Promise<Server> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') {
    const choice = `${hidePasswords(given)}, because TEST_DATABASE_URL says so`;
    const dropLeft = async (): Promise<void> => {
      for (const name of databasesLeftIn(folder)) await dropDatabase(given, name);
    };
    await createTemplate(given);
    return { url: given, choice, stop: dropLeft };
  }
  const container = ready.from === undefined ? await startContainer() : undefined;
  if (container === undefined) return startEmbedded(join(folder, 'postgres'), ready);
  await createTemplate(container.url);
  return container;
}

/** Undefined when no Docker engine answers, which the library finds out within milliseconds. */
async function startContainer(): Promise<Server | undefined> {
  const { GenericContainer, Wait } = await import('testcontainers');
  try {
    const container = await new GenericContainer('postgres:17')
      .withEnvironment({ POSTGRES_PASSWORD: 'test' })
      .withCommand([
        'postgres',
        '-c',
        'wal_level=logical',
        '-c',
        'max_connections=300',
        '-c',
        'max_wal_senders=64',
        '-c',
        'max_replication_slots=64',
        '-c',
        'fsync=off',
      ])
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start();
    const url = `postgres://postgres:test@${container.getHost()}:${container.getMappedPort(5432)}/postgres?sslmode=disable`;
    const choice = 'a container of postgres:17, because a Docker engine answers';
    return { url, choice, stop: async () => void (await container.stop()) };
  } catch {
    return undefined;
  }
}

async function makeReady(folder: string, from: { readonly from?: string }): Promise<Ready> {
  const postgres = embedded({ folder, ...from });
  await postgres.start();
  try {
    await createTemplate(postgres.url);
  } finally {
    await postgres.stop();
  }
  return { template: postgres.folder, ...from };
}

async function startEmbedded(folder: string, ready: Ready): Promise<Server> {
  const postgres = embedded({ folder, ...ready });
  await postgres.start();
  await vouchForCopy(templateOf(postgres.url));
  return {
    url: postgres.url,
    choice: 'the embedded one, because TEST_DATABASE_URL is not set and no Docker engine answers',
    stop: () => postgres.stop(),
  };
}

function embedded(options: { readonly folder: string; readonly from?: string; readonly template?: string }) {
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    // A look at each of twenty databases every 15 s, as the embedded one does, takes 7% of a core.
    'autovacuum_naptime=10min',
    // In memory, all of it would be room that others lack.
    'max_wal_size=512MB',
    'max_connections=300',
    'max_wal_senders=64',
    'max_replication_slots=64',
  ];
  const sharedRoot = sharedRootOf(dirname(options.folder));
  return new EmbeddedPostgres({ ...options, port: 0, settings, sharedRoot, onProgress: () => {} });
}

/** The URL of the template database. */
export function templateOf(url: string): string {
  const template = new URL(url);
  template.pathname = `/${TEMPLATE}`;
  return template.href;
}

async function createTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const client = new pg.Client({ connectionString: templateOf(url) });
  await client.connect();
  await migrate(client, readMigrations());
  await client.end();
}
