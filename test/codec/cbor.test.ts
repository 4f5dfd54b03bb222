import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { parseCbor } from '../../src/codec/cbor/parse-cbor.ts';
import { toCbor } from '../../src/codec/cbor/write-cbor.ts';
import { MAX_DEPTH } from '../../src/object/document-limits.ts';
import { sourceOf } from '../../src/object/written-number.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';
import { expectWithin } from '../kit/expect-within.ts';
import { RandomObjects } from './random-object.ts';

const decode = (hex: string): JsonValue => parseCbor(Buffer.from(hex.replaceAll(' ', ''), 'hex')).value;

/** Examples of RFC 8949, appendix A, and rules of Kubernetes. */
test.each<[hex: string, value: JsonValue]>([
  ['00', 0],
  ['17', 23],
  ['1818', 24],
  ['1903e8', 1000],
  ['1a000f4240', 1_000_000],
  ['1b000000e8d4a51000', 1_000_000_000_000],
  ['1b7fffffffffffffff', 9223372036854775807n],
  ['3b7fffffffffffffff', -9223372036854775808n],
  ['3903e7', -1000],
  ['f93e00', 1.5],
  ['f90001', 2 ** -24],
  ['fa47c35000', 100_000],
  ['fb3ff199999999999a', 1.1],
  ['f4', false],
  ['f5', true],
  ['f6', null],
  ['62c3bc', 'ü'],
  ['42c3bc', 'ü'],
  ['83010203', [1, 2, 3]],
  ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
  ['a26161016162820203', { a: 1, b: [2, 3] }],
  ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }],
  ['a1416101', { a: 1 }],
  ['7f657374726561646d696e67ff', 'streaming'],
  ['5f42 7374 43 726561 ff', 'strea'],
  ['d9d9f7a0', {}],
  ['d6 43 010203', 'AQID'],
  ['d7 43 0102ff', '0102ff'],
  ['d5 42 fbff', '-_8'],
  ['c0 74 323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'],
  ['c1 1a 514b67b0', '2013-03-21T20:04:00Z'],
  ['d8 64 01', 1],
  ['a1 69 5f5f70726f746f5f5f 01', JSON.parse('{"__proto__":1}')],
])('%s is read as %j', (hex, value) => {
  expect(decode(hex)).toEqual(value);
});

test.each<[hex: string, why: string]>([
  ['', 'unexpected EOF'],
  ['19 01', 'unexpected EOF'],
  ['5b ffffffffffffffff', 'unexpected EOF'],
  ['9b ffffffffffffffff', 'unexpected EOF'],
  ['bb 00000000ffffffff', 'unexpected EOF'],
  ['9f 01', 'unexpected EOF'],
  ['00 00', '1 bytes of extraneous data starting at index 1'],
  ['1b 8000000000000000', "overflows Go's int64"],
  ['3b 8000000000000000', "overflows Go's int64"],
  ['c2 41 01', 'integers of any length'],
  ['c3 41 01', 'integers of any length'],
  ['a2 616101 616102', 'found duplicate map key "a" at map element index 1'],
  ['a2 616101 416102', 'found duplicate map key "a"'],
  ['bf 616101 616102 ff', 'found duplicate map key "a"'],
  ['a1 01 02', 'a map key must be a string'],
  ['a1 f6 02', 'a map key must be a string'],
  ['61 ff', 'invalid UTF-8 string'],
  ['41 ff', 'invalid UTF-8 string'],
  ['7f 61 c3 61 bc ff', 'invalid UTF-8 string'],
  ['7f 41 61 ff', 'wrong element type'],
  ['5f 5f ff ff', 'wrong element type'],
  ['f7', 'simple value 23 is not recognized'],
  ['e0', 'simple value 0 is not recognized'],
  ['f8 ff', 'simple value 255 is not recognized'],
  ['f8 14', 'invalid simple value 20'],
  ['f9 7e00', 'NaN and infinity'],
  ['f9 7c00', 'NaN and infinity'],
  ['fb 7ff0000000000000', 'NaN and infinity'],
  ['1c', 'invalid additional information 28'],
  ['1f', 'invalid additional information 31'],
  ['ff', 'unexpected "break" code'],
  ['82 01 ff', 'unexpected "break" code'],
  ['c0 01', 'tag 0 must be a time'],
  ['c0 6161', 'tag 0 must be a time'],
  ['c1 6161', 'tag 1 must be a time'],
  ['81'.repeat(MAX_DEPTH + 1), `exceeded max depth of ${MAX_DEPTH}`],
  ['d6'.repeat(MAX_DEPTH + 1), `exceeded max depth of ${MAX_DEPTH}`],
])('%s is refused', (hex, why) => {
  expect(() => decode(hex)).toThrow(SyntaxError);
  expect(() => decode(hex)).toThrow(why);
});

test('a whole floating point number is no integer where numbers are compared as they are written', () => {
  const { value, written } = parseCbor(Buffer.from('82f93c0001', 'hex'));
  expect(value).toEqual([1, 1]);
  if (written === undefined) throw new Error('nothing is kept as it was written');
  const [whole, integer] = written() as unknown as [symbol, number];
  expect([sourceOf(whole), integer]).toEqual(['1.0', 1]);
  expect(parseCbor(Buffer.from('8101', 'hex')).written).toBeUndefined();
});

test('what is written is read again, self-described, in byte strings and in the fewest bytes', () => {
  const pod = loadTypes('all').message('core/v1.Pod');
  for (let seed = 0; seed < 50; seed += 1) {
    const object = new RandomObjects(seed).object(pod);
    expect(parseCbor(toCbor(object)).value).toEqual(object);
  }
  const values: JsonValue = {
    numbers: [
      0,
      23,
      24,
      255,
      256,
      65_535,
      65_536,
      2 ** 32,
      2 ** 53 - 1,
      -1,
      -25,
      1.5,
      1.1,
      0.1,
      3.4e38,
      1e300,
    ],
    exact: [9223372036854775807n, -9223372036854775808n],
    texts: ['', 'ü', 'x'.repeat(300), '\u{1f600}'],
  };
  expect(parseCbor(toCbor(values)).value).toEqual(values);
  const hex = (value: JsonValue): string =>
    toCbor(value)
      .toString('hex')
      .replace(/^d9d9f7/, '');
  expect(hex({ a: 'b' })).toBe('a141614162');
  expect(hex([1.5, 100_000.5, 1.1])).toBe('83f93e00fa47c35040fb3ff199999999999a');
  expect(hex({ a: undefined, b: [] } as unknown as JsonValue)).toBe('a1416280');
});

test('hostile bodies of the greatest size are refused within 100 ms', () => {
  const size = 3 * 1024 * 1024;
  const bodies = [
    Buffer.alloc(size, 0x81),
    Buffer.alloc(size, 0x9f),
    Buffer.alloc(size, 0xd6),
    Buffer.concat([Buffer.from('9a00300000', 'hex'), Buffer.alloc(size)]),
    Buffer.concat([Buffer.from('bf', 'hex'), Buffer.alloc(size, 0x60)]),
    Buffer.concat([Buffer.from('5f', 'hex'), Buffer.alloc(size, 0x40)]),
    Buffer.concat([Buffer.from('5a00300000', 'hex'), Buffer.alloc(size - 5, 0xff)]),
  ];
  for (const body of bodies) {
    expectWithin(
      100,
      cpuMsOf(() => expect(() => parseCbor(body)).toThrow()),
    );
  }
});
