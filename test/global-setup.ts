import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { EmbeddedPostgres } from '../src/cli/embedded/embedded-postgres.ts';
import { migrate, readMigrations } from '../src/storage/postgres/migrate.ts';

/**
 * One PostgreSQL for the whole run: TEST_DATABASE_URL if set, else a container if a Docker engine answers, else the
 * embedded one. A migrated template database makes each test file's own database a matter of milliseconds.
 */
export const TEMPLATE = 'pg_apiserver_template';

declare module 'vitest' {
  export interface ProvidedContext {
    adminUrl: string;
  }
}

interface Server {
  readonly url: string;
  stop(): Promise<void>;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  await createTemplate(server.url);
  project.provide('adminUrl', server.url);
  return () => server.stop();
}

async function startServer(): Promise<Server> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} };
  return (await startContainer()) ?? startEmbedded();
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
    const url = `postgres://postgres:test@${container.getHost()}:${container.getMappedPort(5432)}/postgres`;
    return { url, stop: async () => void (await container.stop()) };
  } catch {
    return undefined;
  }
}

async function startEmbedded(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-test-'));
  // The account PostgreSQL runs under when we are root must be able to pass.
  chmodSync(folder, 0o755);
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'max_connections=300',
    'max_wal_senders=64',
    'max_replication_slots=64',
  ];
  const postgres = new EmbeddedPostgres({ folder, port: 0, settings, onProgress: () => {} });
  await postgres.start();
  return {
    url: postgres.url,
    stop: async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
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
