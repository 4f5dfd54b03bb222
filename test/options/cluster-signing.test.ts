import { expect, test } from 'vitest';
import { parseOptions } from '../../src/options/options.ts';

const HOUR_MS = 3_600_000;

test('certificates are signed for a year by default, by the authority made here', () => {
  expect(parseOptions([]).signing).toEqual({ certFile: '', keyFile: '', durationMs: 8760 * HOUR_MS });
});

test('a certificate needs its key, and the duration is no shorter than a request may ask for', () => {
  const why =
    '--cluster-signing-cert-file and --cluster-signing-key-file belong together: give both or neither';
  expect(() => parseOptions(['--cluster-signing-cert-file=a'])).toThrow(why);
  expect(() => parseOptions(['--cluster-signing-key-file=a'])).toThrow(why);
  expect(() => parseOptions(['--cluster-signing-duration=9m59s'])).toThrow(
    '--cluster-signing-duration must be at least 10m',
  );
  expect(parseOptions(['--cluster-signing-duration=10m']).signing.durationMs).toBe(600_000);
});
