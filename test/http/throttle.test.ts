import { expect, test } from 'vitest';
import { createHeaderChooser } from '../../src/http/response-headers.ts';
import { Bucket } from '../../src/http/stream-body.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

test('a bucket gives a second’s worth at once, then what its rate gives, however long it stood', () => {
  let now = 0;
  const bucket = new Bucket(100, () => now);
  expect(bucket.take(100)).toBe(true);
  expect(bucket.take(50)).toBe(false);
  expect(bucket.debtMs()).toBe(500);
  now = 400;
  expect(bucket.debtMs()).toBeCloseTo(100, -1);
  now = 60_000;
  expect(bucket.take(100)).toBe(true);
  expect(bucket.take(1)).toBe(false);
});

test('a hostile origin costs no more than its length', () => {
  const choose = createHeaderChooser({ strictTransportSecurity: '', allowedOrigins: ['^https://(a+)+$'] });
  const cpuMs = cpuMsOf(() => expect(choose(`https://${'a'.repeat(5000)}!`).allowed).toBe(false));
  expect(cpuMs).toBeLessThan(1000);
  expect(choose('https://aaa').allowed).toBe(true);
});
