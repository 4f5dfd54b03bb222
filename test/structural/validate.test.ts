import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import type { Schema } from '../../src/structural/node.ts';
import { validateValue } from '../../src/structural/validate.ts';

const linesOf = (schema: Schema, value: JsonValue, root?: string): string[] =>
  validateValue(value, schema, root).map(({ field, message }) => `${field}: ${message}`);

const SPEC: Schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 3, pattern: '^[a-z]+$' },
    size: { 'x-kubernetes-int-or-string': true },
    count: { type: 'integer', minimum: 1, exclusiveMaximum: true, maximum: 5, multipleOf: 2 },
    ratio: { type: 'number', nullable: true },
    tags: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b'] } },
    labels: { type: 'object', maxProperties: 1, additionalProperties: { type: 'string' } },
    at: { type: 'string', format: 'date-time' },
  },
};

test.each<[JsonValue, string[]]>([
  [{ name: 'ab', size: 1, count: 2, ratio: null, tags: ['a'], labels: { x: 'y' } }, []],
  [{ name: 'ab', size: '1', ratio: 1, at: '2024-01-01T00:00:00Z', unknown: {} }, []],
  ['text', ['<nil>: Invalid value: "string":  in body must be of type object: "string"']],
  [{}, ['name: Required value']],
  [{ name: 'A' }, ['name: Invalid value: "A": name in body should be at least 2 chars long']],
  [{ name: 'abcd' }, ['name: Too long: may not be longer than 3']],
  [
    { name: 'ab', size: true },
    ['size: Invalid value: "boolean": size in body must be of type integer,string: "boolean"'],
  ],
  [
    { name: 'ab', count: 5 },
    [
      'count: Invalid value: 5: count in body should be a multiple of 2',
      'count: Invalid value: 5: count in body should be less than 5',
    ],
  ],
  [{ name: 'ab', count: 0 }, ['count: Invalid value: 0: count in body should be greater than or equal to 1']],
  [
    { name: 'ab', count: 1.5 },
    [
      'count: Invalid value: "number": count in body must be of type integer: "number"',
      'count: Invalid value: 1.5: count in body should be a multiple of 2',
    ],
  ],
  [
    { name: 'ab', tags: ['a', 'c', 'b'] },
    [
      'tags[1]: Unsupported value: "c": supported values: "a", "b"',
      'tags: Too many: 3: must have at most 2 items',
    ],
  ],
  [{ name: 'ab', tags: [] }, ['tags: Invalid value: 0: tags in body should have at least 1 items']],
  [
    { name: 'ab', labels: { a: 'b', c: 4 } },
    [
      'labels: Too many: 2: must have at most 1 items',
      'labels.c: Invalid value: "integer": labels.c in body must be of type string: "integer"',
    ],
  ],
  [{ name: 'ab', at: 'noon' }, ['at: Invalid value: "noon": at in body must be of type date-time: "noon"']],
])('%j is held against its schema', (value, lines) => {
  expect(linesOf(SPEC, value)).toEqual(lines);
});

test('junctors say which of them does not hold', () => {
  const schema = {
    properties: {
      all: { allOf: [{ minimum: 2 }, { maximum: 3 }] },
      any: { anyOf: [{ minimum: 2 }, { maximum: 0 }] },
      one: { oneOf: [{ minimum: 0 }, { minimum: 1 }] },
      not: { not: { minimum: 0 } },
    },
  };
  expect(linesOf(schema, { all: 2, any: 5, one: 0, not: -1 })).toEqual([]);
  expect(linesOf(schema, { all: 1, any: 1, one: 1, not: 1 })).toEqual([
    'all: Invalid value: 1: all in body should be greater than or equal to 2',
    '<nil>: Invalid value: "": "all" must validate all the schemas (allOf)',
    '<nil>: Invalid value: "": "any" must validate at least one schema (anyOf)',
    'any: Invalid value: 1: any in body should be greater than or equal to 2',
    '<nil>: Invalid value: "": "not" must not validate the schema (not)',
    '<nil>: Invalid value: "": "one" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ]);
});

test('a value inside an object is named from the root of the object, the texts from the value', () => {
  expect(linesOf(SPEC, { name: 1 }, 'spec.default')).toEqual([
    'spec.default.name: Invalid value: "integer": name in body must be of type string: "integer"',
  ]);
});
