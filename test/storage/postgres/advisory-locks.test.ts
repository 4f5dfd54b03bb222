import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, test } from 'vitest';
import { readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import { migrate } from '../../../src/storage/postgres/migration/run-migrations.ts';
import { keepClusterKey } from '../../../src/storage/postgres/shared/cluster-keys.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';

/** Every user of a database may take advisory locks, and keep them. */
async function createKeeper(database: TestDatabase, lock: string) {
  const role = `keeper_${randomBytes(4).toString('hex')}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  const url = new URL(database.url);
  url.username = role;
  url.password = 'secret';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`SELECT pg_advisory_lock(${lock})`);
  return {
    role,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      await client.end();
      await database.query(`DROP ROLE ${role}`);
    },
  };
}

const plainly = {
  seal: async (_: string, text: string) => text,
  open: async (_: string, text: string) => text,
  isOutdated: () => false,
};

test('a user who keeps an advisory lock keeps no server from the keys of the cluster', async () => {
  await using database = await createTestDatabase();
  await using _ = await createKeeper(database, "hashtext('pg-apiserver'), hashtext('cluster keys')");
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const made = { certificate: 'certificate', key: 'key' };
  const wishes = { fits: () => true, make: async () => made };
  expect(await keepClusterKey(client, 'one', wishes, plainly)).toEqual(made);
  await client.end();
});

test('servers that need a key of the cluster at the same time make it once', async () => {
  await using database = await createTestDatabase();
  let made = 0;
  const keep = async (): Promise<unknown> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const make = async () => ({ certificate: 'certificate', key: String(++made) });
    return keepClusterKey(client, 'one', { fits: () => true, make }, plainly).finally(() => client.end());
  };
  const kept = await Promise.all([keep(), keep(), keep()]);
  expect(kept).toMatchObject([{ key: '1' }, { key: '1' }, { key: '1' }]);
});

test('the session that keeps the lock of migrations is named', async () => {
  await using database = await createTestDatabase();
  await using keeper = await createKeeper(database, "hashtext('pg-apiserver'), hashtext('migrate')");
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const migrating = migrate(client, readMigrations(), { patienceMs: 0 });
  await expect(migrating).rejects.toThrow(
    new RegExp(`the lock of migrations is held by process \\d+ \\(application .*, user ${keeper.role}, idle`),
  );
  await client.end();
});
