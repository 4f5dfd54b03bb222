import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import type { Schema } from '../../src/structural/schema-node.ts';
import { validateInSteps } from '../../src/structural/validate-value.ts';
import { atOnce } from '../../src/util/turns.ts';
import { validateValue } from './validate-value.ts';

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

const oneOf = (schema: Schema): Schema => ({ type: 'object', properties: { a: schema } });

test.each<[Schema, JsonValue, string[]]>([
  // Of alternatives that do not fit, the errors of the nearest one are reported.
  [
    { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 5 }] },
    1,
    [
      '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
      'a: Invalid value: 1: a in body should be greater than or equal to 5',
    ],
  ],
  [
    { oneOf: [{ required: ['x'] }, { required: ['y'] }] },
    {},
    [
      '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
      'a.x: Required value',
    ],
  ],
  [
    { allOf: [{ minimum: 3 }, { minimum: 2 }] },
    1,
    [
      'a: Invalid value: 1: a in body should be greater than or equal to 3',
      'a: Invalid value: 1: a in body should be greater than or equal to 2',
      '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated',
    ],
  ],
  // The same text is reported once.
  [
    { type: 'string', anyOf: [{ minLength: 3 }, { minLength: 3 }], minLength: 3 },
    'x',
    [
      '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
      'a: Invalid value: "x": a in body should be at least 3 chars long',
    ],
  ],
  [{ type: 'string' }, null, ['a: Invalid value: "null": a in body must be of type string: "null"']],
  [{ type: 'string', nullable: true }, null, []],
  [{ 'x-kubernetes-preserve-unknown-fields': true }, null, []],
  [
    { type: 'string', nullable: true, enum: ['x', null] },
    null,
    ['a: Unsupported value: "null": supported values: "x", "null"'],
  ],
  [{ enum: [1, 'b', { c: 1 }] }, { c: 1 }, []],
  [
    { enum: [1, 'b', { c: 1 }] },
    { c: 2 },
    ['a: Unsupported value: map[string]interface {}{"c":2}: supported values: "1", "b", "{\\"c\\":1}"'],
  ],
  // Go converts a value to the type of each value of an enumeration: fractions are cut, integers become characters.
  [{ enum: [1] }, 1.5, []],
  [{ enum: ['b'] }, 98, []],
  [{ enum: [true] }, 1, ['a: Unsupported value: 1: supported values: "true"']],
  // A format is blamed before a type, and lets lists pass.
  [
    { type: 'string', format: 'date' },
    5,
    ['a: Invalid value: "int64": a in body must be of type date: "int64"'],
  ],
  [
    { type: 'string', format: 'date' },
    5.5,
    ['a: Invalid value: "float64": a in body must be of type date: "float64"'],
  ],
  [{ type: 'string', format: 'date' }, true, ['a: Invalid value: "": a in body must be of type date: ""']],
  [{ type: 'string', format: 'date' }, [], []],
  [{ type: 'string', format: 'date' }, 'x', ['a: Invalid value: "x": a in body must be of type date: "x"']],
  [
    { type: 'string', format: 'unknown' },
    5,
    ['a: Invalid value: "integer": a in body must be of type string: "integer"'],
  ],
  [{ type: 'integer', format: 'int32' }, 2 ** 40, []],
  [
    { type: 'integer', format: 'date' },
    'x',
    [
      'a: Invalid value: "string": a in body must be of type integer: "string"',
      'a: Invalid value: "x": a in body must be of type date: "x"',
    ],
  ],
  // Integers.
  [{ type: 'integer' }, JSON.parse('[1.0, 1e3, -0]')[0], []],
  [{ type: 'integer' }, JSON.parse('1e3'), []],
  [{ type: 'integer', minimum: 0 }, JSON.parse('-0'), []],
  [{ type: 'integer' }, 2n ** 63n - 1n, []],
  [
    { type: 'integer' },
    2n ** 63n,
    ['a: Invalid value: "number": a in body must be of type integer: "number"'],
  ],
  [{ type: 'integer' }, 1e300, ['a: Invalid value: "number": a in body must be of type integer: "number"']],
  [{ type: 'integer' }, 1.0000000001, []],
  [
    { type: 'number', maximum: 2 ** 62 },
    2n ** 62n + 1n,
    ['a: Invalid value: 4611686018427387905: a in body should be less than or equal to 4611686018427387904'],
  ],
  [
    { 'x-kubernetes-int-or-string': true },
    1.5,
    ['a: Invalid value: "number": a in body must be of type integer,string: "number"'],
  ],
  // A limit with a fraction is cut for integers, and so is a step.
  [{ maximum: 1.5 }, 2, ['a: Invalid value: 2: a in body should be less than or equal to 1']],
  [{ maximum: 1.5 }, 1.75, ['a: Invalid value: 1.75: a in body should be less than or equal to 1.5']],
  [{ minimum: 1.5, exclusiveMinimum: true }, 1, ['a: Invalid value: 1: a in body should be greater than 1']],
  [{ multipleOf: 0.5 }, 1, ['a: Invalid value: 0: factor MultipleOf declared for a must be positive: 0']],
  [{ multipleOf: 0.1 }, 0.3, []],
  [{ multipleOf: 0.1 }, 0.35, ['a: Invalid value: 0.35: a in body should be a multiple of 0.1']],
  [
    { multipleOf: 3 },
    2n ** 62n,
    ['a: Invalid value: 4611686018427387904: a in body should be a multiple of 3'],
  ],
  // Lengths count characters.
  [{ maxLength: 1, minLength: 1 }, '😀', []],
  [{ minLength: 2 }, '😀', ['a: Invalid value: "😀": a in body should be at least 2 chars long']],
  [{ maxLength: 2, minLength: 3, pattern: 'x' }, 'abc', ['a: Too long: may not be longer than 2']],
  [
    { pattern: '(' },
    'x',
    [
      expect.stringContaining(
        "a in body should match '(, but pattern is invalid: error parsing regexp: missing closing ):",
      ),
    ],
  ],
  [
    { uniqueItems: true },
    [1, '1', { b: 1, c: 2 }, { c: 2, b: 1 }],
    ['a: Invalid value: "": a in body shouldn\'t contain duplicates'],
  ],
  [{ uniqueItems: true }, [1, '1', {}, '{}', [], null], []],
  [
    { minProperties: 2, maxProperties: 0 },
    { b: 1 },
    [
      'a: Invalid value: 1: a in body should have at least 2 properties',
      'a: Too many: 1: must have at most 0 items',
    ],
  ],
  [
    { additionalProperties: false, properties: { b: {} } },
    { b: 1, c: 1 },
    ['a: Invalid value: "c": a.c in body is a forbidden property'],
  ],
  [
    {
      properties: { b: { type: 'string' }, c: { type: 'string' } },
      additionalProperties: { type: 'integer' },
      required: ['z', 'y'],
    },
    { c: 1, b: 2, x: '' },
    [
      'a.x: Invalid value: "string": a.x in body must be of type integer: "string"',
      'a.b: Invalid value: "integer": a.b in body must be of type string: "integer"',
      'a.c: Invalid value: "integer": a.c in body must be of type string: "integer"',
      'a.z: Required value',
      'a.y: Required value',
    ],
  ],
])('%j refuses %j as Kubernetes does', (schema, value, lines) => {
  expect(linesOf(oneOf(schema), { a: value })).toEqual(lines);
});

test('entries of a map at the root are named with a point before them in texts', () => {
  const schema: Schema = {
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
  };
  expect(linesOf(schema, { x: 1 })).toEqual([
    'x: Invalid value: "integer": .x in body must be of type object: "integer"',
  ]);
  expect(linesOf(schema, { x: { y: 1 } })).toEqual([
    'x.y: Invalid value: "integer": .x.y in body must be of type string: "integer"',
  ]);
});

test('a part of an object is named from where it stands', () => {
  const schema: Schema = { type: 'object', required: ['x'], maxProperties: 0, oneOf: [{ required: ['x'] }] };
  expect(linesOf(schema, { y: 1 }, 'status')).toEqual([
    'status: Invalid value: "": "" must validate one and only one schema (oneOf). Found none valid',
    'status.x: Required value',
    'status: Too many: 1: must have at most 0 items',
  ]);
});

test('what a value cannot be, the types of the errors say', () => {
  const typesOf = (schema: Schema, value: JsonValue): string[] =>
    validateValue({ a: value }, oneOf(schema)).map(({ type }) => type);
  expect(typesOf({ type: 'string', enum: ['x'] }, 1)).toEqual([
    'FieldValueTypeInvalid',
    'FieldValueNotSupported',
  ]);
  expect(typesOf({ format: 'date' }, 'x')).toEqual(['FieldValueTypeInvalid']);
  expect(typesOf({ maxLength: 0 }, 'x')).toEqual(['FieldValueTooLong']);
  expect(typesOf({ maxItems: 0 }, [1])).toEqual(['FieldValueTooMany']);
  expect(typesOf({ required: ['x'], minProperties: 1 }, {})).toEqual([
    'FieldValueInvalid',
    'FieldValueRequired',
  ]);
});

test('names that every object inherits are names like any other', () => {
  const schema: Schema = JSON.parse(
    '{"type": "object", "required": ["toString", "__proto__"], "properties": {"__proto__": {"type": "string"}, "constructor": {"type": "string"}}}',
  );
  expect(linesOf(schema, {})).toEqual(['toString: Required value', '__proto__: Required value']);
  expect(
    linesOf(schema, JSON.parse('{"__proto__": 1, "constructor": 1, "toString": 1, "valueOf": 1}')),
  ).toEqual([
    '__proto__: Invalid value: "integer": __proto__ in body must be of type string: "integer"',
    'constructor: Invalid value: "integer": constructor in body must be of type string: "integer"',
  ]);
});

/** Since 1.36: numbers have the type and the format that the schema names. */
test.each<[Schema, JsonValue, string[]]>([
  [{ type: 'integer' }, 1.0000000001, ['<nil>: integer (default format)']],
  [{ type: 'integer' }, 1.5, ['a: integer: "number"', '<nil>: integer (default format)']],
  [{ type: 'integer' }, 2n ** 63n - 1n, []],
  [{ type: 'integer', format: 'other' }, 2 ** 40, []],
  [{ type: 'integer', format: 'int32' }, 2 ** 31, ['<nil>: integer with format int32']],
  [{ type: 'integer', format: 'int32' }, -(2 ** 31), []],
  [{ type: 'integer', format: 'int32' }, 2n ** 62n, ['<nil>: integer with format int32']],
  [{ type: 'integer', format: 'int32' }, 1.5, ['a: int32: "float64"', '<nil>: integer with format int32']],
  [{ type: 'integer', format: 'int64' }, 1e18, ['a: int64: "float64"']],
  [{ type: 'integer', format: 'int64' }, true, ['a: int64: ""']],
  [{ type: 'integer', format: 'int64' }, 'x', ['a: integer: "string"']],
  [{ type: 'number', format: 'float' }, 3.4028235e38, []],
  [{ type: 'number', format: 'float' }, 3.5e38, ['<nil>: number with format float']],
  [{ type: 'number', format: 'double' }, 1e300, []],
  [{ type: 'number', format: 'int32' }, 2 ** 40, []],
  [{ 'x-kubernetes-int-or-string': true }, 1.0000000001, []],
])('since 1.36, a number is of its type and format: %j %s', (property, value, expected) => {
  const schema = { type: 'object', properties: { a: property } };
  const errors = atOnce(validateInSteps({ a: value }, schema, { checksNumbers: true }));
  const whats = errors.map(({ field, message }) => {
    const [, what = message] = /must be of type (.*?)(?: in a)?$/.exec(message) ?? [];
    return `${field}: ${what}`;
  });
  expect(whats).toEqual(expected);
  if (expected[0]?.startsWith('<nil>') === true)
    expect(atOnce(validateInSteps({ a: value }, schema))).toEqual([]);
});
