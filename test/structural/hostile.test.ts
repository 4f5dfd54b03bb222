import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/json.ts';
import { MAX_DEPTH } from '../../src/object/document-limits.ts';
import { listTypesInSteps } from '../../src/structural/list-types.ts';
import { prune } from '../../src/structural/prune.ts';
import type { Schema } from '../../src/structural/schema-node.ts';
import { setDefaults } from '../../src/structural/set-defaults.ts';
import { validateInSteps } from '../../src/structural/validate-value.ts';
import { atOnce } from '../../src/util/turns.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';
import { longestStep } from './longest-step.ts';
import { validateValue } from './validate-value.ts';

/** No request stalls the server: a step takes no longer, with some room for a machine that is busy. */
const MAX_STEP_MS = 40;

const nested = (depth: number, wrap: (inner: JsonValue) => JsonValue): JsonValue => {
  let value: JsonValue = {};
  for (let at = 0; at < depth; at += 1) value = wrap(value);
  return value;
};
const isRoot = { isResourceRoot: true };

test.each<[string, Schema]>([
  ['kept', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
  ['described by nothing', {}],
  ['a list of anything', { type: 'array' }],
  ['a set', { type: 'array', 'x-kubernetes-list-type': 'set' }],
])('a value that nests deeper than any document is no trouble where it is %s', (_, spec) => {
  const schema: Schema = { type: 'object', properties: { spec } };
  for (const wrap of [(a: JsonValue): JsonValue => [a], (a: JsonValue): JsonValue => ({ a })]) {
    const object: JsonObject = { spec: nested(10_000, wrap) };
    expect(() => {
      prune(object, schema, isRoot);
      setDefaults(object, schema);
      atOnce(listTypesInSteps(object, schema));
      validateValue(object, schema);
    }).not.toThrow();
  }
});

/** As deep as a schema can be in a document. */
test('a value as deep as its schema is pruned, filled in and validated', () => {
  let schema: Schema = {
    type: 'object',
    properties: { end: { type: 'string', maxLength: 1, default: 'long' } },
  };
  for (let at = 0; at < MAX_DEPTH; at += 1)
    schema = { type: 'object', required: ['x'], properties: { a: schema } };
  const object = nested(MAX_DEPTH, (a) => ({ a, unknown: 1 })) as JsonObject;
  expect(prune(object, schema, isRoot)).toHaveLength(100);
  setDefaults(object, schema);
  const { result, stepMs } = longestStep(validateInSteps(object, schema, { old: structuredClone(object) }));
  expect(result).toEqual([]);
  expect(stepMs).toBeLessThan(MAX_STEP_MS);
  expect(validateValue(object, schema)).toHaveLength(MAX_DEPTH + 1);
});

/** 3 MB, with as many values as a document may have. */
const large = (item: (at: number) => JsonValue): JsonObject => ({
  spec: Array.from({ length: 17_000 }, (_, at) => item(at)),
});

const name: Schema = { type: 'string', pattern: '^[a-z0-9]+$', maxLength: 200 };
const LIST: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name, value: { anyOf: [{ type: 'integer' }, { type: 'string' }] } },
      },
    },
  },
};

test.each<[string, (at: number) => JsonValue, number]>([
  ['valid', (at) => ({ name: `n${at}`.padEnd(150, 'x'), value: at }), 0],
  ['wrong in one place', (at) => ({ name: `n${at}`.padEnd(150, 'x'), value: at === 9 ? true : at }), 2],
  ['wrong everywhere', (at) => ({ name: `N${at}`.padEnd(150, 'x'), value: at }), 2000],
])('a large object that is %s is validated in short turns', (_, item, least) => {
  const object = large(item);
  for (const old of [undefined, structuredClone(object)]) {
    const { result, stepMs } = longestStep(validateInSteps(object, LIST, old === undefined ? {} : { old }));
    expect(result.length).toBeGreaterThanOrEqual(old === undefined ? least : 0);
    expect(stepMs).toBeLessThan(MAX_STEP_MS);
  }
});

test('very many alternatives for very many items are tried in short turns', () => {
  const anyOf = Array.from({ length: 200 }, (_, at): Schema => ({ minimum: 1e6 + at }));
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'array', items: { type: 'integer', anyOf } } },
  };
  const { result, stepMs, steps } = longestStep(
    validateInSteps({ spec: Array.from({ length: 5000 }, (_, at) => at) }, schema),
  );
  expect(result.length).toBe(5000);
  expect(steps).toBeGreaterThan(5);
  expect(stepMs).toBeLessThan(MAX_STEP_MS);
});

test.each<[string, JsonObject]>([
  [
    'a set of objects',
    { set: Array.from({ length: 50_000 }, (_, at) => ({ b: at, a: `x${at}`.padEnd(60) })) },
  ],
  ['a set of texts', { set: Array.from({ length: 50_000 }, (_, at) => `x${at}`.padEnd(60)) }],
  [
    'a list with two keys',
    { keyed: Array.from({ length: 50_000 }, (_, at) => ({ b: at, a: `x${at}`.padEnd(60) })) },
  ],
])('%s as large as a document may be is compared in short turns', (_, object) => {
  const schema: Schema = {
    type: 'object',
    properties: {
      set: { type: 'array', 'x-kubernetes-list-type': 'set' },
      keyed: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'] },
    },
  };
  const { result, stepMs } = longestStep(listTypesInSteps(object, schema));
  expect(result).toEqual([]);
  expect(stepMs).toBeLessThan(MAX_STEP_MS);
});

test('a list without duplicates is found to be one in linear time', () => {
  const list = Array.from({ length: 40_000 }, (_, at) => ({ b: at, a: `x${at}` }));
  const schema: Schema = {
    type: 'object',
    properties: { spec: { type: 'array', uniqueItems: true, 'x-kubernetes-list-type': 'set' } },
  };
  const cpuMs = cpuMsOf(() => {
    expect(validateValue({ spec: list }, schema)).toEqual([]);
    expect(atOnce(listTypesInSteps({ spec: list }, schema))).toEqual([]);
  });
  expect(cpuMs).toBeLessThan(1000);
});

test('an enumeration of thousands of values takes no longer than a short one', () => {
  const values = Array.from({ length: 20_000 }, (_, at) => `value${at}`);
  const schema: Schema = { type: 'object', additionalProperties: { type: 'string', enum: values } };
  const object = Object.fromEntries(values.map((value) => [value, value]));
  expect(cpuMsOf(() => expect(validateValue(object, schema)).toEqual([]))).toBeLessThan(500);
});

test('the texts of errors are bounded, however long the names and the values in them', () => {
  const key = 'k'.repeat(500_000);
  const object = { [key]: Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, at])) };
  const schema: Schema = {
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
  };
  const errors = validateValue(object, schema);
  expect(errors.length).toBeLessThan(10);
  const bulky = { type: 'object', additionalProperties: { enum: [1] } };
  const value = 'v'.repeat(500_000);
  expect(
    validateValue(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, value])), bulky)
      .length,
  ).toBeLessThan(10);
});
