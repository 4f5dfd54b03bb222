import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/api/json.ts';
import type { JSONSchemaProps } from '../../../src/api/types/apiextensions/v1.ts';
import { equal } from '../../../src/object/equality.ts';
// Numbers beyond 2^53 have a form in JSON from here on.
import '../../../src/object/exact-json.ts';
import { compileRules } from '../../../src/structural/rules/compiled-rules.ts';
import { atOnce } from '../../../src/util/turns.ts';
import { cases } from '../../kit/cases.ts';
import { jsonObject, structuralSchema } from '../arbitraries.ts';

/** What holds for all objects under a schema with rules at every level. */

const RULES = 'x-kubernetes-validations';
const even = { rule: 'self % 2 == 0', message: 'odd' };
const NUMBER: JSONSchemaProps = { type: 'integer', [RULES]: [even] };
const ITEM: JSONSchemaProps = {
  type: 'object',
  properties: { k: { type: 'string' }, n: NUMBER },
  [RULES]: [{ rule: '!has(self.n) || self.n < 2', message: 'large' }],
};
const KEYED = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };

const SCHEMA: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: NUMBER,
        plain: { type: 'array', items: ITEM },
        keyed: { type: 'array', items: ITEM, ...KEYED },
        map: { type: 'object', additionalProperties: ITEM },
      },
      [RULES]: [
        { rule: '!has(self.plain) || !has(self.keyed) || self.plain != self.keyed', message: 'alike' },
        { rule: '!has(self.n) || !has(oldSelf.n) || self.n >= oldSelf.n', message: 'fell' },
      ],
    },
  },
};

const number = fc.integer({ min: 0, max: 3 });
const item = fc.record({ k: fc.constantFrom('a', 'b', 'c'), n: number }, { requiredKeys: ['k'] });
const uniqueItems = fc.uniqueArray(item, { selector: ({ k }) => k, maxLength: 3 });
const map = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), item);
const object = fc.record({
  spec: fc.record(
    { n: number, plain: fc.array(item, { maxLength: 3 }), keyed: uniqueItems, map },
    { requiredKeys: [] },
  ),
});
// As JSON is in memory, with nothing of JavaScript about it.
const json = object.map((value): JsonObject => JSON.parse(JSON.stringify(value)));

interface Found {
  readonly errors: string[];
  readonly warnings: string[];
}

function find(schema: JSONSchemaProps, value: JsonObject, old?: JsonObject, isRatcheting = false): Found {
  const warnings: string[] = [];
  const warn = (text: string) => warnings.push(text);
  const found = atOnce(compileRules(schema).run(value, { old, isRatcheting, warn }));
  return { errors: found.map(({ field, message }) => `${field}: ${message}`), warnings };
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at a path of an error, and what it was: found by key in `keyed`; items of `plain` go by the whole list. */
function before(
  path: string,
  value: JsonObject,
  old: JsonObject,
): [JsonValue | undefined, JsonValue | undefined] {
  let pair: [JsonValue | undefined, JsonValue | undefined] = [value, old];
  for (const step of path.split(/[.[\]]+/).filter((one) => one !== '')) {
    const [now, then] = pair;
    if (Array.isArray(now)) {
      if (path.includes('plain')) return pair;
      const one = now[Number(step)];
      const same = (other: JsonValue): boolean => isObject(one) && isObject(other) && other.k === one.k;
      pair = [one, Array.isArray(then) ? then.find(same) : undefined];
    } else pair = [isObject(now) ? now[step] : undefined, isObject(then) ? then[step] : undefined];
  }
  return pair;
}

test('rules that were compiled before find what rules find that are compiled for the object', () => {
  fc.assert(
    fc.property(json, fc.option(json, { nil: undefined }), (value, old) => {
      expect(find(SCHEMA, value, old)).toEqual(find(structuredClone(SCHEMA), value, old));
    }),
    { numRuns: cases(300), seed: 11 },
  );
});

test('the ratchet lets nothing through but what did not change, and warns of it', () => {
  let letThrough = 0;
  fc.assert(
    fc.property(json, json, (value, old) => {
      const all = find(SCHEMA, value, old).errors;
      const { errors, warnings } = find(SCHEMA, value, old, true);
      expect([...errors, ...warnings].toSorted()).toEqual(all.toSorted());
      for (const text of warnings) {
        const [now, then] = before(text.slice(0, text.indexOf(':')), value, old);
        expect(then, text).toBeDefined();
        expect(equal(now, then), text).toBe(true);
        expect(text).not.toContain('fell');
      }
      letThrough += warnings.length;
    }),
    { numRuns: cases(500), seed: 12 },
  );
  expect(letThrough).toBeGreaterThan(cases(50));
});

test('what did not change at all has no errors', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(find(SCHEMA, value, structuredClone(value), true).errors).toEqual([]);
    }),
    { numRuns: cases(200), seed: 13 },
  );
});

/** The schema with rules at every level that hold of every value. */
function withRules(schema: JSONSchemaProps): JSONSchemaProps {
  const { properties, items, additionalProperties: additional } = schema;
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, withRules(property)]),
          ),
        }),
    ...(isObject(items as JsonValue) ? { items: withRules(items as JSONSchemaProps) } : {}),
    ...(isObject(additional as JsonValue)
      ? { additionalProperties: withRules(additional as JSONSchemaProps) }
      : {}),
    [RULES]: [{ rule: 'self == self' }, { rule: 'oldSelf == self || true' }, { rule: '[self].size() == 1' }],
  };
}

test('rules find nothing but values of wrong types in objects that are anything, and never throw', () => {
  fc.assert(
    fc.property(
      structuralSchema,
      jsonObject,
      fc.option(jsonObject, { nil: undefined }),
      (schema, value, old) => {
        const { errors } = find(withRules(schema), value, old, true);
        for (const text of errors) expect(text).toMatch(/invalid data|Invalid (duration|date)/);
      },
    ),
    { numRuns: cases(500), seed: 14 },
  );
});
