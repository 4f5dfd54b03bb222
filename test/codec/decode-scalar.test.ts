import { expect, test } from 'vitest';
import { base64Error, decodeScalar } from '../../src/codec/decode-scalar.ts';

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

test.each<[string, number | undefined]>([
  ['', undefined],
  ['\n', undefined],
  ['AA==', undefined],
  ['AAA=\n', undefined],
  ['AA\nAA', undefined],
  ['?', 0],
  ['!!!!', 0],
  ['====', 0],
  ['x===', 1],
  ['A=AA', 1],
  ['A!\n', 1],
  ['AA=A', 2],
  ['AA=', 3],
  ['AA==A', 4],
  ['AAA=AAAA', 4],
  ['AAAAA', 4],
  ['AAAAAA', 4],
  ['AAAAAA=', 7],
  ['YWJjZA=====', 8],
])('%j is no base64 from byte %s on', (text, at) => {
  expect(base64Error(text)).toBe(at);
  const decode = () => decodeScalar(text, 'bytes');
  if (at === undefined) expect(decode()).toBe(text.replaceAll('\n', ''));
  else expect(decode).toThrow(`illegal base64 data at input byte ${at}`);
});
