import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { DecodeError } from '../../src/codec/decode-error.ts';
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

const types = loadTypes();

/** Undefined for a document that can be decoded, or need not be read as it is written. */
function errorIn(text: string, type = 'core/v1.Pod'): string | undefined {
  const { written } = parseJsonText(Buffer.from(text));
  if (written === undefined) return undefined;
  try {
    decodeObject(written(), types.message(type));
    return undefined;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

const refused = (number: string, place: string): string =>
  `json: cannot unmarshal number ${number} into Go struct field ${place}`;

test.each([
  ['{"spec":{"priority":1.0}}', refused('1.0', 'PodSpec.spec.priority of type int32')],
  ['{"spec":{"priority": -1e3}}', refused('-1e3', 'PodSpec.spec.priority of type int32')],
  [
    '{"spec":{"activeDeadlineSeconds":1E+2}}',
    refused('1E+2', 'PodSpec.spec.activeDeadlineSeconds of type int64'),
  ],
  [
    '{"spec":{"securityContext":{"supplementalGroups":[1,2.0]}}}',
    refused('2.0', 'PodSecurityContext.spec.securityContext.supplementalGroups of type int64'),
  ],
  [
    '{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":8.0e1}}}]}}',
    refused('8.0e1', 'HTTPGetAction.spec.containers.livenessProbe.httpGet.port of type int32'),
  ],
  ['{"a":1,"a":2,"spec":{"priority":1.0}}', refused('1.0', 'PodSpec.spec.priority of type int32')],
  ['{"\\u0061":1,"spec":{"priority":1.0}}', refused('1.0', 'PodSpec.spec.priority of type int32')],
  ['{"spec":{"priority":1.50}}', refused('1.50', 'PodSpec.spec.priority of type int32')],
  ['{"spec":{"priority":1e400}}', refused('1e400', 'PodSpec.spec.priority of type int32')],
  [
    '{"spec":{"nodeName":1.0}}',
    'json: cannot unmarshal number into Go struct field PodSpec.spec.nodeName of type string',
  ],
])('%s has an integer that Go does not take for one', (text, error) => {
  expect(errorIn(text)).toBe(error);
});

test.each([
  '{"spec":{"priority":10,"containers":[{"image":"a:1.0","name":"1e3"}],"hostNetwork":true}}',
  '{"spec":{"containers":[{"resources":{"limits":{"cpu":1.0,"memory":1e3}}}]}}',
  '{"spec":{"unknown":1.0}}',
])('%s has none', (text) => {
  expect(errorIn(text)).toBeUndefined();
});

test('only numbers that are written so have a document read again', () => {
  const again = (text: string): boolean => parseJsonText(Buffer.from(text)).written !== undefined;
  expect(again('{"a":"1.0e3","b":[true,false,null,-10,{"c.e1":1}]}')).toBe(false);
  for (const number of ['1.5', '1e3', '1E3', '-0.1', '1e+3'])
    for (const text of [`{"a":${number}}`, `{"a": ${number} }`, `[1,${number}]`, `{"a":[\n${number}\n]}`])
      expect(again(text), text).toBe(true);
});
