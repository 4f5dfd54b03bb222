import { expect, test } from 'vitest';
import { toAsOf } from '../../src/verbs/as-of.ts';

const NOW = new Date('2026-06-01T12:00:00Z');

test.each([
  ['2026-02-28T10:00:00Z', '2026-02-28T10:00:00Z'],
  ['2024-02-29T23:30:00.123456789-01:00', '2024-03-01T00:30:00.123456789Z'],
  ['2026-01-01T00:00:00+23:59', '2025-12-31T00:01:00Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
])('the moment %s is asked of PostgreSQL as %s', (text, at) => {
  expect(toAsOf(text, NOW)).toEqual({ kind: 'moment', at });
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
  expect(toAsOf(text, NOW)).toMatch(/^must be a revision, or a moment/);
});
