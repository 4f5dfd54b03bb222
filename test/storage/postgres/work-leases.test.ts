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

test('of many servers that take a lease without a holder, one gets it', async () => {
  const names = Array.from({ length: 8 }, (_, n) => `s${n}`);
  const taken = await Promise.all(names.map((name) => log.workLeases.take('first', name, undefined)));
  expect(taken.filter((won) => won)).toHaveLength(1);
  expect(await log.workLeases.read('first')).toEqual({ holder: names[taken.indexOf(true)], renewals: 0n });
});

test('a lease is taken over as it was seen, or not at all', async () => {
  const { workLeases } = log;
  expect(await workLeases.read('second')).toBeUndefined();
  expect(await workLeases.take('second', 'a', undefined)).toBe(true);
  const seen = await workLeases.read('second');
  expect(await workLeases.renew('second', 'a')).toBe(true);
  expect(await workLeases.take('second', 'b', seen)).toBe(false);
  expect(await workLeases.take('second', 'b', undefined)).toBe(false);
  expect(await workLeases.take('second', 'b', await workLeases.read('second'))).toBe(true);
  expect(await workLeases.renew('second', 'a')).toBe(false);
});

test('what is left is free, and only its holder can leave it', async () => {
  const { workLeases } = log;
  await workLeases.take('third', 'a', undefined);
  await workLeases.release('third', 'b');
  expect(await workLeases.read('third')).toEqual({ holder: 'a', renewals: 0n });
  await workLeases.release('third', 'a');
  expect(await workLeases.read('third')).toEqual({ holder: '', renewals: 1n });
});
