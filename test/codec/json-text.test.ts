import { expect, test } from 'vitest';
import { parseJsonText } from '../../src/codec/json-text.ts';

const duplicatesOf = (text: string): readonly string[] => parseJsonText(Buffer.from(text)).duplicates;

test('a repeated field is found however it is written', () => {
  expect(duplicatesOf('{"a":1,"\\u0061":2}')).toEqual(['a']);
  expect(duplicatesOf('{"a\\/b":"x:y","a/b" : "\\"}{"}')).toEqual(['a/b']);
  expect(duplicatesOf('{"\\"":{}, "\\\\" : [{"k":[] , "k":{}}],"\\"":""}')).toEqual(['\\[0].k', '"']);
  expect(duplicatesOf('{"":1,"":2}')).toEqual(['']);
});

test('keys that are alike, in other objects, or values, are no repeated fields', () => {
  expect(
    duplicatesOf('{"a":"a","\\u0062":"a","b:":["a","a"],"c":{"a":{"a":1}},"d":[{"a":1},{"a":1}]}'),
  ).toEqual([]);
});

test('a repeated field is found among any number of fields and open objects', () => {
  for (const count of [2, 23, 24, 25, 26, 1000, 1500, 5000]) {
    const keys = Array.from({ length: count }, (_, at) => `"key-${(at * 7919) % count}":"${at}"`);
    const inner = `{${keys.join(',')}}`;
    expect(duplicatesOf(inner)).toEqual([]);
    expect(duplicatesOf(`{${keys.join(',')},"key-1":""}`)).toEqual(['key-1']);
    expect(duplicatesOf(`{${keys.join(',')},"in":[${inner},${inner}],"key-0":1}`)).toEqual(['key-0']);
    expect(duplicatesOf(`{"in":{${keys.join(',')},"in":${inner},"in":1}}`)).toEqual(['in.in']);
  }
});

test('documents may be nested 512 deep and no deeper', () => {
  const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;
  expect(duplicatesOf(nested(512))).toEqual([]);
  expect(() => duplicatesOf(nested(514))).toThrow('exceeded max depth of 512');
  expect(duplicatesOf('{"a":1}')).toEqual([]);
});

test.each(['', '{', '}', ']]', '{"a', '{"a\\', '{"a":"\\', '{"a":1,"a":', '[1:2]', '{"a":1}}'])(
  '%j is no JSON',
  (text) => {
    expect(() => duplicatesOf(text)).toThrow(SyntaxError);
  },
);
