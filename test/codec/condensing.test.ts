import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Dictionary, MAX_DICTIONARY_BYTES } from '../../src/codec/condensing.ts';

const pod = (number: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: { name: `web-${number}`, uid: `${number * 7919}-a`, labels: { app: 'web', tier: 'front' } },
      spec: {
        containers: [{ name: 'web', image: 'registry.example.com/shop/web:1.42.0', ports: [{ p: number }] }],
      },
    }),
  );

/** Condenses, expands from between other bytes, and compares. */
function survives(dictionary: Dictionary, object: Buffer): boolean {
  const bytes = dictionary.condense(object);
  if (bytes === undefined) return true;
  expect(bytes.length).toBeLessThan(object.length);
  const among = Buffer.concat([randomBytes(3), bytes, randomBytes(3)]);
  return dictionary.expand(among, 3, object.length).equals(object);
}

test('an object becomes what it does not share with the dictionary, and is expanded to the same bytes', () => {
  const dictionary = new Dictionary(pod(1));
  expect(dictionary.condense(pod(54_321))?.length).toBeLessThan(pod(54_321).length / 4);
  for (let number = 0; number < 500; number += 1) expect(survives(dictionary, pod(number))).toBe(true);
  dictionary.rest();
  expect(survives(dictionary, pod(7))).toBe(true);
});

test('any bytes come back, whatever the dictionary has', () => {
  const random = numbersFrom(42);
  for (let round = 0; round < 200; round += 1) {
    const dictionary = new Dictionary(someBytes(random, random() % 3000));
    for (let object = 0; object < 3; object += 1)
      expect(survives(dictionary, someBytes(random, random() % 5000))).toBe(true);
  }
});

test('repetitions of every period come back, and none is copied before it is there', () => {
  const dictionary = new Dictionary(Buffer.from('abcabcabcabc'));
  for (let period = 1; period < 80; period += 1) {
    const unit = Buffer.from(randomBytes(period).toString('hex')).subarray(0, period);
    const repeated = Buffer.concat([
      Buffer.from('head'),
      ...Array<Buffer>(40).fill(unit),
      Buffer.from('end'),
    ]);
    expect(survives(dictionary, repeated)).toBe(true);
  }
});

test('what cannot be made smaller is refused, and the empty object too', () => {
  const dictionary = new Dictionary(pod(1));
  expect(dictionary.condense(randomBytes(5000))).toBeUndefined();
  expect(dictionary.condense(Buffer.alloc(0))).toBeUndefined();
});

test('the largest dictionary and objects beyond it work, in time that is bounded', () => {
  const dictionary = new Dictionary(
    Buffer.concat(Array.from({ length: 400 }, (_, at) => pod(at))).subarray(0, MAX_DICTIONARY_BYTES),
  );
  const large = Buffer.from(JSON.stringify(Array.from({ length: 3000 }, (_, at) => pod(at).toString())));
  expect(large.length).toBeGreaterThan(600_000);
  expect(survives(dictionary, large)).toBe(true);
  // Every place of it resembles every other, and each match ends soon.
  const hostile = Buffer.alloc(500_000);
  for (let at = 0; at < hostile.length; at += 1) hostile[at] = at % 7 === 6 ? (at / 7) % 251 : 0x61;
  const begun = process.cpuUsage();
  expect(survives(new Dictionary(hostile.subarray(0, MAX_DICTIONARY_BYTES)), hostile)).toBe(true);
  expect(survives(new Dictionary(Buffer.alloc(MAX_DICTIONARY_BYTES, 'a')), Buffer.alloc(500_000, 'a'))).toBe(
    true,
  );
  expect(process.cpuUsage(begun).user).toBeLessThan(1_500_000);
});

/** Text with repetitions, as JSON has them, and stretches of noise. */
function someBytes(random: () => number, length: number): Buffer {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  while (sizeBytes < length) {
    const known = parts[random() % Math.max(1, parts.length)];
    const part =
      known !== undefined && random() % 3 > 0
        ? known.subarray(random() % Math.max(1, known.length))
        : Buffer.from(
            Array.from({ length: 1 + (random() % 60) }, () => 97 + (random() % (1 + (random() % 20)))),
          );
    parts.push(part);
    sizeBytes += part.length;
  }
  return Buffer.concat(parts).subarray(0, length);
}

function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
