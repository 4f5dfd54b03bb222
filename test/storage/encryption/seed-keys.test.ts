import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { SeedKeys } from '../../../src/storage/encryption/seed-keys.ts';

const CONTEXT = Buffer.from('/secrets/default/a');
const PLAIN = Buffer.from('{"kind":"Secret"}');

/** The random bytes of its key, which are in front. */
const keyOf = (sealed: Buffer): string => sealed.subarray(0, 32).toString('hex');

test('a thousand writes share a key, and a reader asks once for the seed of it', async () => {
  const seed = randomBytes(32);
  const writer = new SeedKeys();
  const sealed = Array.from({ length: 1001 }, () => writer.seal(seed, PLAIN, CONTEXT));
  expect(new Set(sealed.slice(0, 1000).map(keyOf)).size).toBe(1);
  expect(new Set(sealed.map(keyOf)).size).toBe(2);
  expect(new Set(sealed.map((one) => one.toString('hex'))).size).toBe(1001);
  const reader = new SeedKeys();
  let asked = 0;
  const ask = async (): Promise<Buffer> => {
    asked += 1;
    return seed;
  };
  for (const one of sealed) expect(await reader.open(one, CONTEXT, ask)).toEqual(PLAIN);
  expect(asked).toBe(2);
});

test('a new seed has keys of its own from the next write on', () => {
  const keys = new SeedKeys();
  const [before, after] = [randomBytes(32), randomBytes(32)];
  const first = keys.seal(before, PLAIN, CONTEXT);
  const second = keys.seal(after, PLAIN, CONTEXT);
  expect(keyOf(first)).not.toBe(keyOf(second));
  expect(new SeedKeys().open(second, CONTEXT, () => after)).toEqual(PLAIN);
  expect(() => new SeedKeys().open(second, CONTEXT, () => before)).toThrow('cannot be decrypted');
});
