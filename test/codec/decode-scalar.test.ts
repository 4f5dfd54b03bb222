import { expect, test } from 'vitest';
import { decodeScalar } from '../../src/codec/decode-scalar.ts';

test.each([
  ['Time', '2026-02-28T23:59:59Z', '2026-02-28T23:59:59Z'],
  ['Time', '2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ['Time', '2026-01-31T00:00:00.5+01:00', '2026-01-30T23:00:00Z'],
  ['MicroTime', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123456Z'],
  ['MicroTime', '2026-01-01T00:00:00.1234567Z', '2026-01-01T00:00:00.123456Z'],
  ['MicroTime', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000Z'],
] as const)('%s %j is %j', (kind, given, decoded) => {
  expect(decodeScalar(given, kind)).toBe(decoded);
});

test.each([
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-32T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01',
  '',
])('%j is no time', (given) => {
  expect(() => decodeScalar(given, 'Time')).toThrow(
    `parsing time "${given}" as "2006-01-02T15:04:05Z07:00": cannot parse "${given}" as "2006"`,
  );
});
