import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/json.ts';
import { copyJson, equal } from '../../src/object/equality.ts';
import { isObject } from '../../src/object/json-values.ts';
import { fits } from '../../src/structural/fits.ts';
import { prune } from '../../src/structural/prune.ts';
import { itemsOf, propertyOf, type Schema } from '../../src/structural/schema-node.ts';
import { setDefaults } from '../../src/structural/set-defaults.ts';
import { validateInSteps } from '../../src/structural/validate-value.ts';
import { rulesOf } from '../../src/structural/value-rules.ts';
import { atOnce } from '../../src/util/turns.ts';
import { cases } from '../kit/cases.ts';
import { jsonObject, jsonValue, objectSchema, structuralSchema } from './arbitraries.ts';
import { validateValue } from './validate-value.ts';

const RUNS = { numRuns: cases(500), seed: 15 };

const root = { isResourceRoot: true };

test('pruning and filling in defaults a second time change nothing', () => {
  fc.assert(
    fc.property(objectSchema, jsonObject, (schema, object) => {
      prune(object, schema, root);
      const pruned = JSON.stringify(object);
      expect(prune(object, schema, root)).toEqual([]);
      expect(JSON.stringify(object)).toBe(pruned);
      setDefaults(object, schema);
      const full = JSON.stringify(object);
      setDefaults(object, schema);
      expect(JSON.stringify(object)).toBe(full);
    }),
    RUNS,
  );
});

test('fields of the schema are neither lost nor reported, and all others are removed', () => {
  fc.assert(
    fc.property(objectSchema, jsonObject, (schema, object) => {
      const before = copyJson(object);
      const unknown = prune(object, schema, { isResourceRoot: false });
      expect(unknown.length > 0).toBe(!equal(before, object));
      expect(unnamed(object, schema)).toEqual([]);
    }),
    RUNS,
  );
});

/** A plain way to find what pruning must not leave. */
function unnamed(value: JsonValue | undefined, schema: Schema | undefined, kept = false): string[] {
  if (Array.isArray(value)) {
    const items = schema && itemsOf(schema);
    const keeps = kept || schema?.['x-kubernetes-preserve-unknown-fields'] === true;
    return items === undefined && keeps ? [] : value.flatMap((item) => unnamed(item, items, keeps));
  }
  if (!isObject(value)) return [];
  const keeps = kept || schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  const other = schema?.additionalProperties;
  return Object.entries(value).flatMap(([name, item]) => {
    const own = schema && propertyOf(schema, name);
    if (own !== undefined) return unnamed(item, own);
    if (typeof other === 'object' && other !== null) return unnamed(item, other);
    return keeps ? [] : [name];
  });
}

test('the quick way and the thorough way agree on what is valid', () => {
  let valid = 0;
  fc.assert(
    fc.property(structuralSchema, jsonValue, (schema, value) => {
      const errors = thorough(value, schema);
      expect(fits(value, rulesOf(schema))).toBe(errors.length === 0);
      if (errors.length === 0) valid += 1;
    }),
    RUNS,
  );
  expect(valid).toBeGreaterThan(RUNS.numRuns / 20);
});

/** Errors as a search finds them, whether the quick way would have needed it or not: a second value is always wrong. */
function thorough(value: JsonValue, schema: Schema): string[] {
  const pair: Schema = { type: 'object', properties: { value: schema, wrong: { type: 'boolean' } } };
  const errors = validateValue({ value, wrong: 'x' }, pair).map(
    ({ field, message }) => `${field}: ${message}`,
  );
  const own = 'wrong: Invalid value: "string": wrong in body must be of type boolean: "string"';
  expect(errors).toContain(own);
  return errors.filter((error) => error !== own);
}

test('a schema that was used before says the same as a fresh copy of it', () => {
  fc.assert(
    fc.property(structuralSchema, fc.array(jsonValue, { maxLength: 4 }), (schema, values) => {
      for (const value of values) {
        const copy: Schema = structuredClone(schema);
        expect(validateValue(value, schema)).toEqual(validateValue(value, copy));
      }
    }),
    RUNS,
  );
});

const errorsOf = (value: JsonValue, schema: Schema, old?: JsonValue): string[] =>
  atOnce(validateInSteps(value, schema, old === undefined ? {} : { old })).map(
    ({ field, message }) => `${field}: ${message}`,
  );

test('an update never hides an error of a value that changed, and finds none that a creation would not', () => {
  let hidden = 0;
  fc.assert(
    fc.property(objectSchema, jsonObject, jsonObject, fc.boolean(), (schema, old, other, mixed) => {
      const object = mixed ? { ...old, ...other } : other;
      const all = validateValue(object, schema);
      const left = atOnce(validateInSteps(object, schema, { old }));
      const texts = left.map(({ field, message }) => `${field}: ${message}`);
      for (const text of texts)
        expect(all.map(({ field, message }) => `${field}: ${message}`)).toContain(text);
      for (const { field, message } of all) {
        if (texts.includes(`${field}: ${message}`)) continue;
        hidden += 1;
        // A problem of several schemas names its value in the text alone.
        const path = field === '<nil>' ? (/"([^"]*)" must/.exec(message)?.[1] ?? '') : field;
        expect(isUnchanged(object, old, schema, path)).toBe(true);
      }
    }),
    RUNS,
  );
  expect(hidden).toBeGreaterThan(20);
});

/** Whether anything on the way to a value, or the value, is what it was. */
function isUnchanged(value: JsonValue, old: JsonValue | undefined, schema: Schema, path: string): boolean {
  if (old === undefined) return false;
  if (sorted(value, schema) === sorted(old, schema)) return true;
  const [step] = /^\.?[^.[]+|^\[\d+\]/.exec(path) ?? [];
  if (step === undefined) return false;
  const rest = path.slice(step.length);
  if (step.startsWith('[') && Array.isArray(value) && Array.isArray(old)) {
    const item = value[Number(step.slice(1, -1))];
    const items = itemsOf(schema);
    if (!isObject(item) || items === undefined || schema['x-kubernetes-list-type'] !== 'map') return false;
    const before = old.find((one) => isObject(one) && one.k === item.k);
    return isUnchanged(item, before, items, rest);
  }
  const name = step.replace('.', '');
  const other = schema.additionalProperties;
  const own = propertyOf(schema, name) ?? (typeof other === 'object' && other !== null ? other : undefined);
  if (!isObject(value) || !isObject(old) || own === undefined) return false;
  const before = Object.hasOwn(old, name) ? old[name] : undefined;
  return isUnchanged(Object.hasOwn(value, name) ? (value[name] ?? null) : null, before, own, rest);
}

/** Lists whose order does not matter, in an order; everything else as it is. */
function sorted(value: JsonValue, schema: Schema): string {
  if (Array.isArray(value)) {
    const items = itemsOf(schema) ?? {};
    const texts = value.map((item) => sorted(item, items));
    return `[${(schema['x-kubernetes-list-type'] === 'map' ? texts.sort() : texts).join()}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const other = schema.additionalProperties;
  return `{${Object.keys(value)
    .sort()
    .map((name) => {
      const own = propertyOf(schema, name) ?? (typeof other === 'object' && other !== null ? other : {});
      return `${JSON.stringify(name)}:${sorted(value[name] ?? null, own)}`;
    })
    .join()}}`;
}

test('defaults are filled in before anything is refused, so what has a default is never missing', () => {
  fc.assert(
    fc.property(objectSchema, jsonObject, (schema, object) => {
      prune(object, schema, root);
      setDefaults(object, schema);
      const missing = errorsOf(object, schema).filter((error) => error.endsWith(': Required value'));
      for (const error of missing)
        expect(defaultAt(schema, error.slice(0, error.indexOf(':')))).toBeUndefined();
    }),
    RUNS,
  );
});

function defaultAt(schema: Schema, path: string): JsonValue | undefined {
  const names = path.split(/[.[]/);
  let at: Schema | undefined = schema;
  for (const name of names) {
    if (at === undefined) return undefined;
    const other: Schema['additionalProperties'] = at.additionalProperties;
    at = name.endsWith(']')
      ? itemsOf(at)
      : (propertyOf(at, name) ?? (typeof other === 'object' && other !== null ? other : undefined));
  }
  return at?.default;
}
