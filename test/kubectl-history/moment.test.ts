import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePointInTime } from '../../src/kubectl-history/moment.ts';

/** A Sunday. In Berlin it is an hour later than in UTC. */
const NOW = new Date('2026-11-22T14:10:00.000Z');
const zone = process.env.TZ;

beforeAll(() => {
  process.env.TZ = 'Europe/Berlin';
});

afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const read = (text: string): string => parsePointInTime('--at', text, NOW).text;

test.each([
  ['4711', '4711'],
  ['now', '2026-11-22T14:10:00.000Z'],
  ['10m', '2026-11-22T14:00:00.000Z'],
  ['10 min ago', '2026-11-22T14:00:00.000Z'],
  ['1h30m', '2026-11-22T12:40:00.000Z'],
  ['2 hours and 5 minutes ago', '2026-11-22T12:05:00.000Z'],
  ['an hour ago', '2026-11-22T13:10:00.000Z'],
  ['last hour', '2026-11-22T13:10:00.000Z'],
  ['-1h', '2026-11-22T13:10:00.000Z'],
  ['1.5h', '2026-11-22T12:40:00.000Z'],
  ['3 days', '2026-11-19T14:10:00.000Z'],
  ['a week ago', '2026-11-15T14:10:00.000Z'],
  ['today', '2026-11-21T23:00:00.000Z'],
  ['today 9:30', '2026-11-22T08:30:00.000Z'],
  ['yesterday 14:00', '2026-11-21T13:00:00.000Z'],
  ['Yesterday at 2pm', '2026-11-21T13:00:00.000Z'],
  ['14:00 yesterday', '2026-11-21T13:00:00.000Z'],
  ['2 pm on saturday', '2026-11-21T13:00:00.000Z'],
  ['yesterday noon', '2026-11-21T11:00:00.000Z'],
  ['saturday 14:00', '2026-11-21T13:00:00.000Z'],
  ['sunday', '2026-11-14T23:00:00.000Z'],
  ['9:30', '2026-11-22T08:30:00.000Z'],
  // A quarter to midnight was yesterday.
  ['23:45', '2026-11-21T22:45:00.000Z'],
  ['2026-11-22', '2026-11-21T23:00:00.000Z'],
  ['2026-11-22 14:00', '2026-11-22T13:00:00Z'],
  ['2026-11-22 14:00 UTC', '2026-11-22T14:00:00Z'],
  ['2026-11-22T14:00:05.123456Z', '2026-11-22T14:00:05.123456Z'],
  ['2026-11-22T15:00:05.5+01:00', '2026-11-22T14:00:05.5Z'],
  ['2026-11-22T15:00:05+01', '2026-11-22T14:00:05Z'],
  ['2026-11-21T15:00:05-0330', '2026-11-21T18:30:05Z'],
  // In the night that gave the hour back, and in the one that took it.
  ['2026-10-25 02:30', '2026-10-25T00:30:00Z'],
  ['2026-03-29 02:30', '2026-03-29T01:30:00Z'],
  // In summer Berlin is two hours ahead.
  ['2026-07-01 14:00', '2026-07-01T12:00:00Z'],
])('%s', (text, moment) => {
  expect(read(text).replace(/\.000Z$/, 'Z')).toBe(moment.replace(/\.000Z$/, 'Z'));
});

test.each([
  ['', 'is no moment'],
  ['0', 'there is no revision 0'],
  ['soon', 'is no moment'],
  ['10 parsecs ago', 'is no moment'],
  ['2026-02-30', 'is no moment'],
  ['2026-13-01 14:00', 'is no moment'],
  ['25:00', 'is no moment'],
  ['yesterday 14', 'is no moment'],
  ['soon yesterday', 'is no moment'],
  ['2026-11-22T14:00:00+99:00', 'is no moment'],
  ['9999999999999 years', 'is no moment'],
  ['today 23:00', 'is in the future'],
  ['2027-01-01', 'is in the future'],
])('%j is refused, with what is right', (text, why) => {
  expect(() => read(text)).toThrow(`--at: `);
  expect(() => read(text)).toThrow(why);
});
