import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/json.ts';
import { coerceEmbedded, coerceMetadata, validateEmbedded } from '../../src/structural/embedded-metadata.ts';
import type { Schema } from '../../src/structural/schema-node.ts';

const objectMeta = loadTypes().message('meta/v1.ObjectMeta');
const strict = { objectMeta, dropInvalid: false };
const lenient = { objectMeta, dropInvalid: true };

const EMBEDDED: Schema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    one: EMBEDDED,
    list: { type: 'array', items: EMBEDDED },
    map: { type: 'object', additionalProperties: EMBEDDED },
    plain: { type: 'object' },
  },
};

test('metadata of an object takes the form of its type, and its unknown fields are reported', () => {
  const object = { metadata: { name: 'a', foo: 1, labels: { a: 'b' }, creationTimestamp: null } };
  expect(coerceMetadata(object, strict)).toEqual(['metadata.foo']);
  expect(object.metadata).toEqual({ name: 'a', labels: { a: 'b' } });
});

test.each<[JsonValue, string]>([
  ['text', 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
  [
    { labels: { a: 1 } },
    'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  ],
  [
    { finalizers: 'a' },
    'json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string',
  ],
])('metadata %j of a request is refused', (metadata, message) => {
  expect(() => coerceMetadata({ metadata }, strict)).toThrow(message);
  const shown = typeof metadata === 'string' ? '"text"' : 'map[string]interface {}';
  expect(() => coerceEmbedded({ list: [{ metadata }] }, SCHEMA, strict)).toThrow(
    `list[0].metadata: Invalid value: ${shown}`,
  );
  expect(() => coerceEmbedded({ list: [{ metadata }] }, SCHEMA, strict)).toThrow(message);
});

test('on reading from storage, the fields that do not fit go and the others stay', () => {
  const object = { metadata: { name: 'a', labels: 'b', finalizers: ['c'], foo: 1 } };
  expect(coerceMetadata(object, lenient)).toEqual(['metadata.foo']);
  expect(object.metadata).toEqual({ name: 'a', finalizers: ['c'] });
  const other: JsonObject = { metadata: 'text' };
  coerceMetadata(other, lenient);
  expect(other.metadata).toBe('text');
});

test('embedded objects are coerced at every depth', () => {
  const object = {
    one: { kind: 'A', metadata: { name: 'a', foo: 1 } },
    list: [{ metadata: { bar: 1 } }, 'text', null],
    map: { 'a.b': { metadata: { creationTimestamp: null, baz: 1 } } },
    plain: { metadata: { any: 1 } },
  };
  expect(coerceEmbedded(object, SCHEMA, strict)).toEqual([
    'list[0].metadata.bar',
    'map[a.b].metadata.baz',
    'one.metadata.foo',
  ]);
  expect(object).toEqual({
    one: { kind: 'A', metadata: { name: 'a' } },
    list: [{ metadata: {} }, 'text', null],
    map: { 'a.b': { metadata: {} } },
    plain: { metadata: { any: 1 } },
  });
});

test('apiVersion and kind of an embedded object are texts, or go', () => {
  expect(() => coerceEmbedded({ one: { kind: 5 } }, SCHEMA, strict)).toThrow(
    'one.kind: Invalid value: 5: must be a string',
  );
  const object = { one: { kind: 5, apiVersion: {}, spec: {} } };
  coerceEmbedded(object, SCHEMA, lenient);
  expect(object).toEqual({ one: { spec: {} } });
});

const linesOf = (object: JsonObject): string[] =>
  validateEmbedded(object, SCHEMA, objectMeta).map(({ field, message }) => `${field}: ${message}`);

test('embedded objects say what they are and have valid metadata', () => {
  const good = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'a', labels: { a: 'b' } },
  };
  expect(linesOf({ one: good, list: [good], map: { x: good }, plain: { kind: 5 } })).toEqual([]);
  expect(
    linesOf({
      one: {},
      list: [{ apiVersion: 'a/b/c', kind: 'No Kind' }],
      map: { x: { kind: '', apiVersion: 1 } },
    }),
  ).toEqual([
    'list[0].apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    `list[0].kind: Invalid value: "No Kind": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
    'map[x].apiVersion: Invalid value: 1: must be a string',
    'map[x].kind: Invalid value: "": must not be empty',
    'one.apiVersion: Required value: must not be empty',
    'one.kind: Required value: must not be empty',
  ]);
  expect(validateEmbedded({ one: {} }, SCHEMA, objectMeta)[0]?.messageSince134).toBe('Required value');
  expect(linesOf({ one: { ...good, metadata: { name: '..', labels: { a: 'b c' } } } })).toEqual([
    `one.metadata.name: Invalid value: "..": may not be '..'`,
    expect.stringMatching(/^one\.metadata\.labels: Invalid value: "b c": a valid label must be/),
  ]);
});
