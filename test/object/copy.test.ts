import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { copyJson } from '../../src/object/copy.ts';

test('a copy is equal and shares nothing that can be changed', () => {
  const original: JsonObject = { a: [{ b: 1 }, null, 'text'], c: { d: {} }, e: undefined };
  const copy = copyJson(original);
  expect(copy).toEqual(original);
  expect(copy).not.toBe(original);
  const [first] = original.a as JsonObject[];
  if (first !== undefined) first.b = 2;
  expect(copy).toEqual({ a: [{ b: 1 }, null, 'text'], c: { d: {} } });
});

test('a field named __proto__ stays a field', () => {
  const copy = copyJson(JSON.parse('{"a":{"__proto__":{"polluted":true}}}') as JsonObject);
  expect(JSON.stringify(copy)).toBe('{"a":{"__proto__":{"polluted":true}}}');
  expect(Object.getPrototypeOf(copy.a)).toBe(Object.prototype);
});
