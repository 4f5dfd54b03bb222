import { describe, expect, test } from 'vitest';
import type { JSONSchemaProps } from '../../src/api/types/apiextensions/v1.ts';
import { toObjectSchema } from '../../src/discovery/custom-schema.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** The published form of one field. */
function field(schema: JSONSchemaProps, version: 'v2' | 'v3'): unknown {
  const { properties } = toObjectSchema({ type: 'object', properties: { spec: schema } }, version);
  return (properties as { spec: unknown }).spec;
}

/** The same schema, and what each version makes of it (apiextensions-apiserver, pkg/controller/openapi/v2/conversion_test.go). */
const CASES: Readonly<Record<string, { schema: JSONSchemaProps; v2: object; v3: object }>> = {
  'bounds, patterns and lists stay': {
    schema: {
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: 'string', maxLength: 5, minLength: 0, pattern: '^a', format: 'email', enum: ['x'] },
        b: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 2 ** 40, multipleOf: 2 },
        c: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { k: { type: 'string' } } },
        },
      },
      'x-kubernetes-validations': [{ rule: 'true', message: 'so' }],
    },
    v2: {
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: 'string', maxLength: 5, minLength: 0, pattern: '^a', format: 'email', enum: ['x'] },
        b: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 2 ** 40, multipleOf: 2 },
        c: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { k: { type: 'string' } } },
        },
      },
      'x-kubernetes-validations': [{ rule: 'true', message: 'so' }],
    },
    v3: {
      type: 'object',
      required: ['a'],
      properties: {
        a: { type: 'string', maxLength: 5, minLength: 0, pattern: '^a', format: 'email', enum: ['x'] },
        b: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 2 ** 40, multipleOf: 2 },
        c: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { k: { type: 'string' } } },
        },
      },
      'x-kubernetes-validations': [{ rule: 'true', message: 'so' }],
    },
  },
  'what may be null has no type in v2': {
    schema: { type: 'object', nullable: true, properties: { a: { type: 'string' } }, required: ['a'] },
    v2: { required: ['a'] },
    v3: { type: 'object', nullable: true, properties: { a: { type: 'string' } }, required: ['a'] },
  },
  'a field that may be null is not required in v2': {
    schema: {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
    },
    v2: { type: 'object', required: ['b'], properties: { a: {}, b: { type: 'string' } } },
    v3: {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } },
    },
  },
  'nothing is required in v2 of a map whose values may be null': {
    schema: { type: 'object', required: ['a'], additionalProperties: { type: 'string', nullable: true } },
    v2: { type: 'object', additionalProperties: {} },
    v3: { type: 'object', required: ['a'], additionalProperties: { type: 'string', nullable: true } },
  },
  'junctors are left out of v2': {
    schema: {
      type: 'object',
      allOf: [{ required: ['a'] }],
      anyOf: [{ properties: { a: { minimum: 1 } } }],
      oneOf: [{ not: { required: ['b'] } }],
      not: { required: ['c'] },
    },
    v2: { type: 'object' },
    v3: {
      type: 'object',
      allOf: [{ required: ['a'] }],
      anyOf: [{ properties: { a: { minimum: 1 } } }],
      oneOf: [{ not: { required: ['b'] } }],
      not: { required: ['c'] },
    },
  },
  'an object with unknown fields says nothing of the known ones in v2': {
    schema: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'string' } },
    },
    v2: { 'x-kubernetes-preserve-unknown-fields': true },
    v3: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'string' } },
    },
  },
  'a list without items has no type in v2': {
    schema: { type: 'array', nullable: true, items: { type: 'string' } },
    v2: {},
    v3: { type: 'array', nullable: true, items: { type: 'string' } },
  },
  'an integer or a string is spelled out in v3': {
    schema: { 'x-kubernetes-int-or-string': true, maximum: 3 },
    v2: { 'x-kubernetes-int-or-string': true, maximum: 3 },
    v3: {
      'x-kubernetes-int-or-string': true,
      maximum: 3,
      anyOf: [{ type: 'integer' }, { type: 'string' }],
    },
  },
  'and only once': {
    schema: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    v2: { 'x-kubernetes-int-or-string': true },
    v3: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
  },
  'before what the definition demands': {
    schema: {
      'x-kubernetes-int-or-string': true,
      anyOf: [{ minimum: 1 }],
      allOf: [{ pattern: 'x' }],
    },
    v2: { 'x-kubernetes-int-or-string': true },
    v3: {
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }],
      anyOf: [{ minimum: 1 }],
    },
  },
  'defaults are left out of v2, with every value': {
    schema: {
      type: 'object',
      default: {},
      properties: {
        a: { type: 'boolean', default: false },
        b: { type: 'integer', default: 0 },
        c: { type: 'integer', default: 2n ** 60n },
      },
    },
    v2: {
      type: 'object',
      properties: { a: { type: 'boolean' }, b: { type: 'integer' }, c: { type: 'integer' } },
    },
    v3: {
      type: 'object',
      default: {},
      properties: {
        a: { type: 'boolean', default: false },
        b: { type: 'integer', default: 0 },
        c: { type: 'integer', default: 2n ** 60n },
      },
    },
  },
  'what says nothing is left out': {
    schema: {
      type: 'object',
      description: '',
      properties: {},
      required: [],
      exclusiveMaximum: false,
      uniqueItems: false,
      nullable: false,
      allOf: [],
      additionalProperties: true,
    },
    v2: { type: 'object', additionalProperties: true },
    v3: { type: 'object', additionalProperties: true },
  },
};

describe.each(Object.entries(CASES))('%s', (_, { schema, v2, v3 }) => {
  test('v2', () => expect(field(schema, 'v2')).toStrictEqual(v2));
  test('v3', () => expect(field(schema, 'v3')).toStrictEqual(v3));
});

test('an object has the fields of every object, also where its definition declares them otherwise', () => {
  const schema = { type: 'object', properties: { metadata: { type: 'object' }, kind: { type: 'integer' } } };
  expect(toObjectSchema(schema, 'v3')).toMatchObject({
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: `#/components/schemas/${META}.ObjectMeta` }] },
    },
  });
  expect(toObjectSchema(schema, 'v2')).toMatchObject({
    properties: { metadata: { $ref: `#/definitions/${META}.ObjectMeta` } },
  });
});

test('a version without a schema, or with unknown fields in v2, is any object: kubectl would refuse what is not named', () => {
  const open: JSONSchemaProps = {
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    properties: { spec: { type: 'string' } },
  };
  expect(toObjectSchema(undefined, 'v2')).toEqual({ type: 'object' });
  expect(toObjectSchema(undefined, 'v3')).toEqual({ type: 'object' });
  expect(toObjectSchema(open, 'v2')).toEqual({ type: 'object' });
  expect(toObjectSchema(open, 'v3')).toHaveProperty('properties.spec');
});

test('an embedded object has the fields of every object, but not in v2 where it may have unknown ones', () => {
  const embedded: JSONSchemaProps = { type: 'object', 'x-kubernetes-embedded-resource': true };
  for (const version of ['v2', 'v3'] as const) {
    expect(field({ ...embedded, required: ['apiVersion', 'x'] }, version)).toMatchObject({
      required: ['apiVersion', 'x', 'kind'],
      properties: { apiVersion: { type: 'string' }, kind: {}, metadata: {} },
    });
  }
  const open: JSONSchemaProps = { ...embedded, 'x-kubernetes-preserve-unknown-fields': true };
  expect(field(open, 'v2')).toStrictEqual({
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  });
  expect(field(open, 'v3')).toHaveProperty('properties.metadata');
});

test('fields may have any name', () => {
  const names = ['__proto__', 'constructor', '$ref', 'a/b~c', 'größe', '', 'type', 'toString'];
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  for (const version of ['v2', 'v3'] as const) {
    const published = JSON.parse(JSON.stringify(field({ type: 'object', properties }, version)));
    expect(Object.keys(published.properties).sort()).toEqual([...names].sort());
    expect(Object.getOwnPropertyDescriptor(published.properties, '__proto__')?.value).toEqual({
      type: 'string',
    });
  }
});
