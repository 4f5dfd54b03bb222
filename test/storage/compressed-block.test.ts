import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { InflatedBlocks, pack } from '../../src/storage/compressed-block.ts';

const PARTS = Array.from({ length: 12 }, (_, at) =>
  Buffer.from(`{"name":"pod-${at}"}${'x'.repeat(at * 700)}`),
);

function blockOf(parts: readonly Buffer[], inflated = new InflatedBlocks()) {
  const packed = pack(parts);
  if (packed === undefined) throw new Error('it was not compressed');
  return { block: inflated.blockOf(packed), inflated };
}

test('each part comes back byte for byte, in any order', () => {
  const { block } = blockOf(PARTS);
  for (const at of [11, 0, 5, 5, 1, 10]) expect(block.read(at)).toEqual(PARTS[at]);
});

test('a part is the same Buffer until a call finds that none was read since the one before', () => {
  const { block, inflated } = blockOf(PARTS);
  const first = block.read(3);
  inflated.cool();
  expect(block.read(3)).toBe(first);
  inflated.cool();
  inflated.cool();
  const second = block.read(3);
  expect(second).not.toBe(first);
  expect(second).toEqual(first);
});

const NOTHING = Buffer.alloc(0);

test('an empty part, and small parts alone, come back', () => {
  const { block } = blockOf([NOTHING, Buffer.alloc(200, 'a'), NOTHING]);
  expect([block.read(0).length, block.read(1).toString(), block.read(2).length]).toEqual([
    0,
    'a'.repeat(200),
    0,
  ]);
});

test('what compression saves little of is left as it is', () => {
  const secret = Buffer.from(randomBytes(30_000).toString('base64'));
  expect(pack([secret, secret.subarray(100, 20_000)])).toBeUndefined();
});
