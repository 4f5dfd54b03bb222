import { expect, test } from 'vitest';
import { ageOf, agoOf, MINUTE, parseMoment, SECOND } from '../../src/console/model/moments.ts';

const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const NOW = new Date(2026, 0, 31, 12, 0, 0).getTime();

test('moments are read as people write them', () => {
  const local = (...parts: [number, number, number, number, number]): number => new Date(...parts).getTime();
  expect(parseMoment('10 min ago', NOW)).toBe(NOW - 10 * MINUTE);
  expect(parseMoment('2h', NOW)).toBe(NOW - 2 * HOUR);
  expect(parseMoment('1.5 days ago', NOW)).toBe(NOW - 1.5 * DAY);
  expect(parseMoment('30 seconds ago', NOW)).toBe(NOW - 30 * SECOND);
  expect(parseMoment('09:30', NOW)).toBe(local(2026, 0, 31, 9, 30));
  expect(parseMoment('23:30', NOW)).toBe(local(2026, 0, 30, 23, 30));
  expect(parseMoment('yesterday 9:30', NOW)).toBe(local(2026, 0, 30, 9, 30));
  expect(parseMoment('2026-01-30 08:15', NOW)).toBe(local(2026, 0, 30, 8, 15));
  expect(parseMoment('2026-01-31T11:00:00Z', NOW)).toBe(Date.UTC(2026, 0, 31, 11));
  expect(parseMoment('now', NOW)).toBe(NOW);
  for (const text of ['', 'soon', '25:00', '10 parsecs ago', '<script>', '2026-13-45'])
    expect(parseMoment(text, NOW), text).toBeUndefined();
});

test('ages are those of kubectl', () => {
  const ages = [
    0,
    119 * SECOND,
    200 * SECOND,
    30 * MINUTE,
    5 * HOUR,
    30 * HOUR,
    3 * DAY,
    100 * DAY,
    800 * DAY,
  ].map(ageOf);
  expect(ages).toEqual(['0s', '119s', '3m20s', '30m', '5h', '30h', '3d', '100d', '2y']);
  expect([2 * SECOND, 90 * SECOND, 5 * MINUTE, 3 * HOUR, 9 * DAY].map(agoOf)).toEqual([
    'just now',
    '90 seconds ago',
    '5 minutes ago',
    '3 hours ago',
    '9 days ago',
  ]);
});
