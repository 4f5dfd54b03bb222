import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { PostgresLog } from '../../src/storage/postgres/postgres.ts';
import { parseAsOf, revisionOf, toAsOf } from '../../src/verbs/as-of.ts';
import { createTestDatabase, type TestDatabase } from '../postgres.ts';
import { openLog, write } from '../storage/postgres/kit.ts';

let database: TestDatabase;
let log: PostgresLog;

beforeAll(async () => {
  database = await createTestDatabase();
  log = openLog(database.url);
});

afterEach(() => {
  vi.useRealTimers();
});

afterAll(async () => {
  await log.close();
  await database.drop();
});

const MINUTE_MS = 60_000;

test.each([-10, 10])(
  'a server whose clock is %i minutes off tells the past by the clock of the database',
  async (minutes) => {
    const made = await log.committer.commit(write('create', `made${minutes}`));
    const { rows } = await log.history.rows({
      ...{ revisions: [made], order: 'newest first', limit: 1, states: 'none' },
    });
    // Behind the fraction of a millisecond that is cut off.
    const now = new Date(Date.parse(rows[0]?.at ?? '') + 1);
    vi.useFakeTimers({ now: now.getTime() + minutes * MINUTE_MS, toFake: ['Date'] });
    const revisionAt = (afterMs: number): Promise<unknown> => {
      const moment = new Date(now.getTime() + afterMs).toISOString();
      return revisionOf(parseAsOf('asOf', moment), log.history, { field: 'asOf' });
    };
    expect(await revisionAt(0)).toBe(made);
    // Clients' clocks may be ahead a little.
    expect(await revisionAt(MINUTE_MS / 2)).toBe(made);
    await expect(revisionAt(2 * MINUTE_MS)).rejects.toThrow(/asOf: Invalid value: .* is in the future/);
  },
);

test.each([
  ['2026-02-28T10:00:00Z', '2026-02-28T10:00:00Z'],
  ['2024-02-29T23:30:00.123456789-01:00', '2024-03-01T00:30:00.123456789Z'],
  ['2026-01-01T00:00:00+23:59', '2025-12-31T00:01:00Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
])('the moment %s is asked of PostgreSQL as %s', (text, at) => {
  expect(toAsOf(text)).toEqual({ kind: 'moment', at });
});

test.each([
  '2026-02-29T10:00:00Z',
  '2026-02-30T10:00:00Z',
  '2026-04-31T10:00:00Z',
  '2026-00-10T10:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+01:00',
  '2026-01-01T10:00:00',
  '2026-01-01 10:00:00Z',
  '2026-01-01',
  '-5',
  '0',
  '',
])('%o is no moment, and no revision', (text) => {
  expect(toAsOf(text)).toMatch(/^must be a revision, or a moment/);
});
