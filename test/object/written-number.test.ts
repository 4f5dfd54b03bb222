import { expect, test } from 'vitest';
import { decodeScalar } from '../../src/codec/decode-scalar.ts';
import { parseAsWritten } from '../../src/object/exact-json.ts';
import { applyJsonPatch } from '../../src/object/json-patch.ts';
import { applyMergePatch } from '../../src/object/merge-patch.ts';
import { mergedJson } from '../../src/object/patch-error.ts';
import { isWritten, withoutWritten } from '../../src/object/written-number.ts';

test('numbers keep their text exactly where Go would write them otherwise', () => {
  const kept = (text: string): boolean => isWritten(parseAsWritten(text));
  for (const text of ['1.0', '1e3', '1E3', '1.50', '-0.0', '1e400', '0.10', '1e+3'])
    expect(kept(text), text).toBe(true);
  for (const text of ['1', '1.5', '-0.25', '1e+21', '1e-7', '12345678901234567890'])
    expect(kept(text), text).toBe(false);
  expect(parseAsWritten('[9007199254740993,{"a":1.5}]')).toEqual([9007199254740993n, { a: 1.5 }]);
});

test('what is left of them after decoding is numbers', () => {
  expect(withoutWritten(parseAsWritten('[1.0,{"a":[1e3,"1.0",null]},1.50]'))).toEqual([
    1,
    { a: [1000, '1.0', null] },
    1.5,
  ]);
});

test('a quantity keeps its exponent, a floating point number takes any form', () => {
  expect(decodeScalar(parseAsWritten('1e3'), 'Quantity')).toBe('1e3');
  expect(decodeScalar(parseAsWritten('1.0'), 'Quantity')).toBe('1');
  expect(decodeScalar(parseAsWritten('1.0'), 'double')).toBe(1);
  expect(decodeScalar(parseAsWritten('1e400'), 'double')).toBeUndefined();
});

test('patches carry them along', () => {
  const merged = applyMergePatch({ a: { b: 1 } }, parseAsWritten('{"a":{"b":1.0}}'));
  expect(mergedJson(merged, {}, 100)).toBe('{"a":{"b":1.0}}');
  const added = '{"op":"add","path":"/x","value":1.0}';
  const operations = `[${added},{"op":"copy","from":"/x","path":"/y"},{"op":"test","path":"/y","value":1.0}]`;
  expect(mergedJson(applyJsonPatch({}, parseAsWritten(operations)), {}, 100)).toBe('{"x":1.0,"y":1.0}');
});

test('a JSON patch compares texts: 1 is not 1.0', () => {
  const tests = (value: string) => () =>
    applyJsonPatch({ a: 1.5 }, parseAsWritten(`[{"op":"test","path":"/a","value":${value}}]`));
  expect(tests('1.5')).not.toThrow();
  expect(tests('1.50')).toThrow('testing value /a failed: test failed');
});
