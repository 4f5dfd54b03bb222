import { expect, test } from 'vitest';
import { isChosen } from '../run.ts';
import { formatTable, round } from './table.ts';

test('figures show the digits that count', () => {
  const shown = [12345.6, 123.4, 12.34, 1.234, 0.1234, 0.00001, 0, Number.NaN, undefined].map(round);
  expect(shown).toEqual(['12346', '123', '12.3', '1.23', '0.123', '0.0000', '0', '', '']);
});

test('a row shows what is known of it, and marks a saturated generator and a failure', () => {
  const limit = { what: 'bytes', rate: 200, cpuPer1000: 1, share: 0.5, cpuShare: 0.25 };
  const lines = formatTable([
    { scenario: 'get/1', status: 'ok', rate: 100, p50Ms: 1, limit, loadCores: 0.95, saturated: true },
    { scenario: 'list', status: 'failed', note: 'why' },
  ]).split('\n');
  expect(lines[1]).toMatch(/^get\/1 +100 +1\.00 +200 +50% +25% +95%!$/);
  expect(lines[2]).toMatch(/^list +FAILED, why$/);
});

test('scenarios are chosen by how their names begin; none given means all', () => {
  expect(isChosen('get/1-clients', [])).toBe(true);
  expect(isChosen('get/1-clients', ['list', 'get'])).toBe(true);
  expect(isChosen('get/1-clients', ['list'])).toBe(false);
});
