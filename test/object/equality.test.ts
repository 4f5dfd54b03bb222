import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { copyJson, equal, equalExcept, identical } from '../../src/object/equality.ts';

let seed = 3;
const below = (most: number): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
  return Math.floor((seed / 4_294_967_296) * most);
};

const NAMES = ['a', 'b', 'constructor', 'toString'];

/** Small, so that two of them are often equal; fields in an order by chance, some of them undefined. */
function randomValue(depth: number): unknown {
  const kind = below(depth > 2 ? 3 : 6);
  if (kind === 0) return below(2);
  if (kind === 1) return null;
  if (kind === 2) return ['', '1', 'x'][below(3)];
  if (kind === 3) return Array.from({ length: below(3) }, () => randomValue(depth + 1));
  const object: Record<string, unknown> = {};
  for (let count = below(3); count > 0; count -= 1)
    object[NAMES[below(NAMES.length)] ?? ''] = below(6) === 0 ? undefined : randomValue(depth + 1);
  return object;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([x], [y]) => (x < y ? -1 : 1)))
      : part,
  );
}

describe('values are equal', () => {
  test('when their JSON is, in every order of their fields', () => {
    let same = 0;
    for (let round = 0; round < 100_000; round += 1) {
      const [a, b] = [randomValue(0), randomValue(0)];
      const expected = canonical(a) === canonical(b);
      if (equal(a, b) !== expected) expect({ a, b, equal: !expected }).toBeUndefined();
      if (expected) same += 1;
    }
    expect(same).toBeGreaterThan(1000);
  });

  test('where one has no time of creation and the other has null, but not identical', () => {
    const template = (metadata: object) => ({ spec: { template: { metadata } } });
    const [absent, none] = [template({}), template({ creationTimestamp: null })];
    expect([equal(absent, none), equal(none, absent)]).toEqual([true, true]);
    expect([
      identical(absent, none),
      identical(none, absent),
      identical(none, template({ creationTimestamp: null })),
    ]).toEqual([false, false, true]);
    expect(equal(template({ deletionTimestamp: null }), absent)).toBe(false);
  });

  test('but for the fields that are left out', () => {
    const a = { name: 'x', status: 1, more: undefined };
    expect(equalExcept(a, { status: 2, name: 'x' }, ['status'])).toBe(true);
    expect(equalExcept(a, { name: 'x' }, ['status'])).toBe(true);
    expect(equalExcept(a, { name: 'x', other: 1 }, ['status'])).toBe(false);
    expect(equalExcept({}, a, ['status'])).toBe(false);
  });

  test('and not when one has a field that all objects inherit', () => {
    expect(equal({}, { constructor: 'x' })).toBe(false);
    expect(equal({ constructor: 'x' }, {})).toBe(false);
  });
});

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
