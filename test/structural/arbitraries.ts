import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../src/api/json.ts';
import type { Schema } from '../../src/structural/schema-node.ts';

/** Random structural schemas, and objects that meet their fields often enough. */

/** Few names, so that objects have fields that schemas describe. */
const NAMES = ['a', 'b', 'c', 'k', '__proto__', 'constructor'] as const;
const name = fc.constantFrom(...NAMES);

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>('', 'x', 'xy', '2024-01-01', '10.0.0.1', true, false, null),
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom<JsonValue>(1.5, -0.5, 2 ** 60, 9007199254740993n, 2n ** 70n, 1e300),
);

const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { arbitrary: scalar, weight: 3 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }), weight: 1 },
    { arbitrary: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(toObject), weight: 4 },
  ),
}));

/** Also with keys that name what objects inherit. */
function toObject(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return JSON.parse(
    `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`).join(',')}}`,
    (_, item) => item,
  );
}

export const jsonValue = value;
export const jsonObject = fc.array(fc.tuple(name, value), { maxLength: 5 }).map(toObject);

const clauseOf = (inner: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> =>
  fc.record(
    {
      minimum: fc.integer({ min: -1, max: 5 }),
      maxLength: fc.integer({ min: 0, max: 2 }),
      required: fc.array(name, { maxLength: 2 }),
      enum: fc.array(scalar, { minLength: 1, maxLength: 3 }),
      not: inner,
    },
    { requiredKeys: [] },
  );

const clause: fc.Arbitrary<Schema> = clauseOf(
  fc.record(
    { maximum: fc.integer({ min: 0, max: 5 }), pattern: fc.constantFrom('x', '^y') },
    { requiredKeys: [] },
  ),
);

const clauses = {
  anyOf: fc.array(clause, { minLength: 1, maxLength: 3 }),
  oneOf: fc.array(clause, { minLength: 1, maxLength: 3 }),
  allOf: fc.array(clause, { minLength: 1, maxLength: 2 }),
  not: clause,
  nullable: fc.boolean(),
};

const leaf: fc.Arbitrary<Schema> = fc.oneof(
  fc.record(
    {
      type: fc.constant('string'),
      format: fc.constantFrom('date', 'ipv4', 'int32', 'odd'),
      pattern: fc.constantFrom('^x', '[0-9]'),
      minLength: fc.integer({ min: 0, max: 3 }),
      default: fc.constantFrom('x', 'preset'),
      ...clauses,
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constantFrom('integer', 'number'),
      maximum: fc.double({ min: -2, max: 9, noNaN: true }),
      multipleOf: fc.constantFrom(1, 2, 0.5),
      exclusiveMaximum: fc.boolean(),
      default: fc.integer({ min: 0, max: 9 }),
      ...clauses,
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    { 'x-kubernetes-int-or-string': fc.constant(true), ...clauses },
    { requiredKeys: ['x-kubernetes-int-or-string'] },
  ),
  fc.constantFrom<Schema>(
    { type: 'boolean' },
    { 'x-kubernetes-preserve-unknown-fields': true },
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  ),
);

const properties = (inner: fc.Arbitrary<Schema>): fc.Arbitrary<{ [key: string]: Schema }> =>
  fc
    .array(fc.tuple(name, inner), { maxLength: 4 })
    .map((entries) =>
      JSON.parse(`{${entries.map(([key, one]) => `"${key}":${JSON.stringify(one)}`).join(',')}}`),
    );

const { schema } = fc.letrec<{ schema: Schema }>((tie) => {
  const inner = tie('schema');
  const object = fc.record(
    {
      type: fc.constant('object'),
      properties: properties(inner),
      required: fc.array(name, { maxLength: 2 }),
      'x-kubernetes-preserve-unknown-fields': fc.constant(true),
      maxProperties: fc.integer({ min: 1, max: 4 }),
      default: fc.constantFrom({}, { a: 1 }),
      ...clauses,
    },
    { requiredKeys: ['type', 'properties'] },
  );
  const map = fc.record(
    {
      type: fc.constant('object'),
      additionalProperties: inner,
      minProperties: fc.integer({ min: 0, max: 2 }),
    },
    { requiredKeys: ['type', 'additionalProperties'] },
  );
  const keyed = properties(inner).map(
    (own): Schema => ({
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', properties: { ...own, k: { type: 'integer' } } },
    }),
  );
  const list = fc.record(
    {
      type: fc.constant('array'),
      items: inner,
      'x-kubernetes-list-type': fc.constantFrom('atomic', 'set'),
      maxItems: fc.integer({ min: 1, max: 3 }),
      uniqueItems: fc.boolean(),
    },
    { requiredKeys: ['type', 'items'] },
  );
  return {
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { arbitrary: leaf, weight: 3 },
      { arbitrary: object, weight: 4 },
      { arbitrary: map, weight: 1 },
      { arbitrary: keyed, weight: 1 },
      { arbitrary: list, weight: 1 },
    ),
  };
});

export const structuralSchema = schema;
export const objectSchema: fc.Arbitrary<Schema> = fc
  .record({ properties: properties(schema), required: fc.array(name, { maxLength: 2 }), clause })
  .map(({ clause: extra, ...own }) => ({ type: 'object', ...own, anyOf: [extra] }));
