import { dirname, join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { EmbeddedPostgres } from '../src/cli/embedded/embedded-postgres.ts';
import { readMigrations } from '../src/storage/postgres/migration/migration.ts';
import { migrate } from '../src/storage/postgres/migration/run-migrations.ts';
import { hidePasswords } from '../src/util/hidden-passwords.ts';
import { dropDatabase } from './kit/administer.ts';
import { chosenPostgres, fetchPostgres } from './kit/postgres-version.ts';
import { databasesLeftIn, openRunFolder, quickestFolder, sharedRootOf } from './kit/run-folder.ts';

/**
 * One PostgreSQL for the whole run: TEST_DATABASE_URL if set, else a container if a Docker engine answers, else the
 * embedded one. A migrated template database makes each test file's own database a matter of milliseconds.
 *
 * All that tests put into the temporary folder goes into one of the run's, in memory if there is room, and goes with it.
 */
export const TEMPLATE = 'pg_apiserver_template';

declare module 'vitest' {
  export interface ProvidedContext {
    adminUrl: string;
    /** Of the oldest PostgreSQL that is supported. */
    oldestUrl: string;
  }
}

interface Server {
  readonly url: string;
  /** For a person: which one it is, and why. */
  readonly choice: string;
  stop(): Promise<void>;
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
    await createTemplate(server.url);
    return server;
  };
  try {
    const [server, oldest] = await Promise.all([
      start(startServer(folder.path)),
      start(startEmbedded(join(folder.path, 'oldest'), fetchPostgres('14'))),
    ]);
    console.log(`PostgreSQL of the tests: ${server.choice}`);
    project.provide('adminUrl', server.url);
    project.provide('oldestUrl', oldest.url);
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

async function startServer(folder: string): Promise<Server> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') {
    const choice = `${hidePasswords(given)}, because TEST_DATABASE_URL says so`;
    const dropLeft = async (): Promise<void> => {
      for (const name of databasesLeftIn(folder)) await dropDatabase(given, name);
    };
    return { url: given, choice, stop: dropLeft };
  }
  const chosen = chosenPostgres();
  const container = chosen.from === undefined ? await startContainer() : undefined;
  return container ?? startEmbedded(join(folder, 'postgres'), chosen.from);
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

async function startEmbedded(folder: string, from?: string): Promise<Server> {
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
  const sharedRoot = sharedRootOf(dirname(folder));
  const postgres = new EmbeddedPostgres({
    ...{ folder, port: 0, settings, sharedRoot, onProgress: () => {} },
    ...(from === undefined ? {} : { from }),
  });
  await postgres.start();
  return {
    url: postgres.url,
    choice: 'the embedded one, because TEST_DATABASE_URL is not set and no Docker engine answers',
    stop: () => postgres.stop(),
  };
}

async function createTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${TEMPLATE}`);
  await admin.end();
  const template = new URL(url);
  template.pathname = `/${TEMPLATE}`;
  const client = new pg.Client({ connectionString: template.href });
  await client.connect();
  await migrate(client, readMigrations());
  await client.end();
}
