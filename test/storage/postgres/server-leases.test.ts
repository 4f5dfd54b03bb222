import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import { createTestDatabase, type TestDatabase } from '../../postgres.ts';
import { openLog } from './kit.ts';

let database: TestDatabase;
let log: PostgresLog;

beforeAll(async () => {
  database = await createTestDatabase();
  log = openLog(database.url);
});

afterAll(async () => {
  await log.close();
  await database.drop();
});

test('a server lives as long as it says so, by the database’s clock', async () => {
  const first = { address: '192.0.2.1', port: 6443 };
  const second = { address: '192.0.2.2', port: 6443 };
  expect(await log.leases.renew(first, 60_000)).toEqual([first]);
  expect(await log.leases.renew(second, 60_000)).toEqual([first, second]);
  expect(await log.leases.renew(second, 60_000)).toEqual([first, second]);
  await database.query(
    "UPDATE server_leases SET expires_at = now() - interval '1s' WHERE address = '192.0.2.1'",
  );
  expect(await log.leases.renew(second, 60_000)).toEqual([second]);
  expect(await database.query('SELECT 1 FROM server_leases')).toHaveLength(1);
  expect(await log.leases.renew(first, 60_000)).toEqual([first, second]);
  expect(await log.leases.release(first)).toEqual([second]);
});
