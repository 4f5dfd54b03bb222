import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { prune } from '../../src/structural/prune.ts';
import type { Schema } from '../../src/structural/schema-node.ts';

const text = { type: 'string' };
const OPEN = { 'x-kubernetes-preserve-unknown-fields': true };
const EMBEDDED = { type: 'object', 'x-kubernetes-embedded-resource': true };
const ofSpec = (spec: Schema): Schema => ({ type: 'object', properties: { spec } });

test.each<[string, Schema, JsonObject, JsonObject, string[]]>([
  [
    'fields that the schema names stay, others go',
    ofSpec({
      type: 'object',
      properties: { a: text, list: { type: 'array', items: { type: 'object', properties: { b: text } } } },
    }),
    { spec: { a: '1', foo: 1, list: [{ b: '2', bar: [] }, 'text', null] }, status: {} },
    { spec: { a: '1', list: [{ b: '2' }, 'text', null] } },
    ['spec.foo', 'spec.list[0].bar', 'status'],
  ],
  [
    'a list without a schema of items loses the fields of its objects',
    ofSpec({ type: 'object', properties: { list: { type: 'array' } } }),
    { spec: { list: [{ a: 1 }, [{ b: 1 }]] } },
    { spec: { list: [{}, [{}]] } },
    ['spec.list[0].a', 'spec.list[1][0].b'],
  ],
  [
    'where unknown fields are kept, named ones are pruned below',
    ofSpec({ type: 'object', ...OPEN, properties: { known: { type: 'object', properties: { a: text } } } }),
    { spec: { any: { x: [{ y: 1 }] }, known: { a: '', b: 1 } } },
    { spec: { any: { x: [{ y: 1 }] }, known: { a: '' } } },
    ['spec.known.b'],
  ],
  [
    'a list whose unknown fields are kept keeps those of its items, not those below',
    ofSpec({ type: 'array', ...OPEN, items: { type: 'object', properties: { a: { type: 'object' } } } }),
    { spec: [{ a: { b: 1 }, c: 1 }] },
    { spec: [{ a: {}, c: 1 }] },
    ['spec[0].a.b'],
  ],
  [
    'values of a map are pruned by the schema of the map, and wholly where it says only that there are any',
    ofSpec({
      type: 'object',
      properties: {
        map: { type: 'object', additionalProperties: { type: 'object', properties: { a: text } } },
        any: { type: 'object', additionalProperties: true },
      },
    }),
    { spec: { map: { x: { a: '', b: '' } }, any: { text: 'a', object: { a: 1 } } } },
    { spec: { map: { x: { a: '' } }, any: { text: 'a', object: {} } } },
    ['spec.any.object.a', 'spec.map.x.b'],
  ],
  [
    'an embedded object keeps what every object has',
    ofSpec({ type: 'object', properties: { whole: EMBEDDED, part: { type: 'object' } } }),
    {
      spec: {
        whole: { apiVersion: 'v1', kind: 'A', metadata: { any: 1 }, spec: {} },
        part: { kind: 'A' },
      },
    },
    { spec: { whole: { apiVersion: 'v1', kind: 'A', metadata: { any: 1 } }, part: {} } },
    ['spec.part.kind', 'spec.whole.spec'],
  ],
  [
    'names of built-in properties of objects are names like any other',
    ofSpec({ type: 'object', properties: { constructor: text } }),
    JSON.parse('{"spec": {"__proto__": {"a": 1}, "toString": 1, "constructor": "a"}}'),
    { spec: { constructor: 'a' } },
    ['spec.__proto__', 'spec.toString'],
  ],
])('%s', (_, schema, object, pruned, unknown) => {
  const whole = { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' }, ...object };
  expect(prune(whole, schema, { isResourceRoot: true })).toEqual(unknown);
  expect(whole).toStrictEqual({ apiVersion: 'a/v1', kind: 'A', metadata: { name: 'a' }, ...pruned });
  expect(prune(whole, schema, { isResourceRoot: true })).toEqual([]);
});

test('a value that is no whole object loses kind and metadata, which are not reported', () => {
  const value = { kind: 'A', apiVersion: 'v1', metadata: {}, a: 1 };
  expect(prune(value, { type: 'object' }, { isResourceRoot: false })).toEqual(['a']);
  expect(value).toEqual({});
});

test('an object without a schema keeps what every object has', () => {
  const value = { kind: 'A', spec: {} };
  expect(prune(value, undefined, { isResourceRoot: true })).toEqual(['spec']);
  expect(value).toEqual({ kind: 'A' });
});

test('of very many unknown fields, or very long ones, some are reported', () => {
  const name = 'n'.repeat(100_000);
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`f${at}`, 1]));
  const unknown = prune(
    { spec: { [name]: many } },
    ofSpec({ type: 'object', properties: { [name]: { type: 'object' } } }),
    {
      isResourceRoot: true,
    },
  );
  expect(unknown).toHaveLength(100);
  expect(unknown.join('').length).toBeLessThan(200_000);
});
