import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readMigrations } from '../../../src/storage/postgres/migration/migration.ts';
import { createTestDatabase } from '../../postgres.ts';
import { isLikeEmbedded, onAnyPostgres, writeSchema } from './written-schema.ts';

const FILE = new URL('schema.sql', import.meta.url).pathname;
const AGAIN =
  'schema.sql is not what the migrations make. Write it anew with: ' +
  'npx vitest run --config test/vitest.config.ts --project systems test/storage/postgres/schema.test.ts -u';

test('schema.sql is the schema that all migrations make', async () => {
  await using database = await createTestDatabase();
  await database.query('SELECT make_partition(0)');
  const schema = await writeSchema(database.query);
  if (await isLikeEmbedded(database.query)) await expect(schema, AGAIN).toMatchFileSnapshot(FILE);
  else expect(onAnyPostgres(schema), AGAIN).toBe(onAnyPostgres(readFileSync(FILE, 'utf8')));
});

test('a migration writes a function whole, and patches no text of one', () => {
  const patching = readMigrations()
    .filter(({ sql }) => /pg_get_functiondef|\bprosrc\b/i.test(sql))
    .map(({ id, name }) => `${id}_${name}`);
  expect(patching).toEqual([]);
});

test('the baseline stays what it is: databases that have it are changed by later migrations alone', () => {
  const [baseline] = readMigrations();
  expect(baseline?.checksum).toBe('f56da787c7734d7494be47e9e2a4f4939357ca5bb7552f38ece9443d1e31f0d0');
});
