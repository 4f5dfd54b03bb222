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

const peer = (server: string, ...resources: string[]) => ({
  ...{ server, address: '10.0.0.1', port: 6443 },
  resources,
});

test('a server knows all others and what they have; one that is gone without a word is known for an hour', async () => {
  const { peers } = log;
  expect(await peers.renew(peer('a', '/v1/pods'), 60_000)).toEqual([]);
  const [a, b] = [peer('a', '/v1/pods', 'apps/v1/deployments'), peer('b')];
  expect(await peers.renew(b, 60_000)).toEqual([{ ...peer('a', '/v1/pods'), isLive: true }]);
  expect(await peers.renew(a, 60_000)).toEqual([{ ...b, isLive: true }]);
  expect(await peers.renew(b, 60_000)).toEqual([{ ...a, isLive: true }]);
  await database.query("UPDATE peers SET expires_at = now() - interval '59 minutes' WHERE server = 'a'");
  expect(await peers.renew(b, 60_000)).toEqual([{ ...a, isLive: false }]);
  await database.query("UPDATE peers SET expires_at = now() - interval '61 minutes' WHERE server = 'a'");
  expect(await peers.renew(b, 60_000)).toEqual([]);
  await peers.release('b');
  expect(await database.query('SELECT server FROM peers')).toEqual([]);
});
