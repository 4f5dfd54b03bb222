import { expect, test } from 'vitest';
import { badRequest } from '../../src/api/status.ts';
import { parseJsonText } from '../../src/codec/json-text.ts';
import type { AuthorizedResourceRequest } from '../../src/request/api-request.ts';
import { toObject } from '../../src/verbs/body.ts';

/** Reads a custom resource with this field. */
function read(field: string): unknown {
  const json = Buffer.from(`{"apiVersion":"g/v1","kind":"Foo","metadata":{"name":"1e999"},"n":${field}}`);
  const document = { ...parseJsonText(json), json, refusal: (why: string) => badRequest(why) };
  const custom = { decode: (object: object) => ({ object, unknown: [] }) };
  const expected = { group: 'g', version: 'v1', kind: 'Foo', custom } as never;
  return toObject({} as AuthorizedResourceRequest, document, expected, 'Ignore').n;
}

test('a number of a custom resource that no float holds is refused, instead of stored as null', () => {
  const refused = (text: string): string =>
    `json: cannot unmarshal number ${text} into Go value of type float64`;
  expect(() => read('1e400')).toThrow(refused('1e400'));
  expect(() => read('[{"a":-1.5E+309}]')).toThrow(refused('-1.5E+309'));
  for (const field of ['1e300', '1e-400', '"1e400"', '1.5']) expect(read(field)).toBe(JSON.parse(field));
});

test('the refusal of a very long number shows only its beginning', () => {
  expect(() => read(`1${'0'.repeat(1_000_000)}e400`)).toThrow(
    `json: cannot unmarshal number 1${'0'.repeat(99)}… into Go value of type float64`,
  );
});
