import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/json.ts';
import type { Schema } from '../../src/structural/schema-node.ts';
import { setDefaults } from '../../src/structural/set-defaults.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    text: { type: 'string', default: 'preset' },
    plain: { type: 'string' },
    nullable: { type: 'string', nullable: true, default: 'preset' },
    inner: {
      type: 'object',
      default: { given: 1 },
      properties: { given: { type: 'integer' }, below: { type: 'integer', default: 2 } },
    },
    bare: { type: 'object', properties: { below: { type: 'integer', default: 3 } } },
    list: { type: 'array', items: { type: 'object', properties: { a: { type: 'integer', default: 4 } } } },
    numbers: { type: 'array', items: { type: 'integer', default: 5 } },
    map: { type: 'object', additionalProperties: { type: 'integer', default: 6 } },
    strict: { type: 'object', additionalProperties: { type: 'integer' } },
  },
};

const SET = { text: 'preset', nullable: 'preset', inner: { given: 1, below: 2 } };

test.each<[string, JsonObject, JsonObject]>([
  ['absent fields take their defaults, and what is below a default its own', {}, SET],
  ['what is there stays', { text: '', inner: {} }, { ...SET, text: '', inner: { below: 2 } }],
  ['nothing is made for a default below an absent object', { bare: {} }, { ...SET, bare: { below: 3 } }],
  [
    'a null that is not allowed becomes the default, and goes where there is none',
    { text: null, plain: null, nullable: null, inner: { given: null } },
    { text: 'preset', nullable: null, inner: { below: 2 } },
  ],
  ['items of lists have defaults', { list: [{}, { a: 1 }] }, { ...SET, list: [{ a: 4 }, { a: 1 }] }],
  [
    'nulls in lists and maps become defaults; without one, those in maps go and those in lists stay',
    { numbers: [null, 1], map: { a: null, b: 1 }, strict: { a: null, b: 1 }, list: [null] },
    { ...SET, numbers: [5, 1], map: { a: 6, b: 1 }, strict: { b: 1 }, list: [null] },
  ],
  [
    'values of another type than the schema says are left alone',
    { inner: 'x', list: {} },
    { ...SET, inner: 'x', list: {} },
  ],
])('%s', (_, object, expected) => {
  setDefaults(object, SCHEMA);
  expect(object).toEqual(expected);
  setDefaults(object, SCHEMA);
  expect(object).toEqual(expected);
});

test('a default is copied, so that a change of one object is seen in no other', () => {
  const one: { inner?: { given: number } & JsonObject } & JsonObject = {};
  setDefaults(one, SCHEMA);
  if (one.inner !== undefined) one.inner.given = 7;
  const other: JsonObject = {};
  setDefaults(other, SCHEMA);
  expect(other.inner).toEqual({ given: 1, below: 2 });
  expect(SCHEMA.properties?.inner?.default).toEqual({ given: 1 });
});

test('a field may be called like the prototype of objects', () => {
  const schema: Schema = JSON.parse(
    '{"properties": {"__proto__": {"type": "object", "default": {"a": 1}}, "constructor": {"default": "b"}}}',
  );
  const object: JsonObject = {};
  setDefaults(object, schema);
  expect(JSON.stringify(object)).toBe('{"__proto__":{"a":1},"constructor":"b"}');
  const value: JsonValue = object;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test.each<[string, JsonValue]>([
  ['a long text', 'x'.repeat(1_000_000)],
  ['very many values', Array.from({ length: 20_000 }, () => 0)],
])('defaults that add more than a request may have are an error: %s', (_, preset) => {
  const schema: Schema = {
    type: 'object',
    properties: {
      spec: { type: 'array', items: { type: 'object', properties: { a: { default: preset } } } },
    },
  };
  const items = (length: number): JsonObject => ({ spec: Array.from({ length }, () => ({})) });
  setDefaults(items(2), schema);
  const cpuMs = cpuMsOf(() =>
    expect(() => setDefaults(items(50_000), schema)).toThrow(
      'defaults of the schema add more than 3145728 characters',
    ),
  );
  expect(cpuMs).toBeLessThan(500);
});
