import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { goPlain } from '../../src/object/go-value.ts';
import { mergedJson, operatedJson } from '../../src/object/patch-error.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

const LETTERS = 10_000;

test('objects that a merge patch goes through have sorted keys, the others their own order', () => {
  const result = { kind: 'X', b: { z: 1, y: { d: 1, c: 2 } }, a: { z: 1, y: 2 }, list: [{ b: 1, a: 2 }] };
  expect(mergedJson(result, { b: { z: 1 }, list: [{ b: 1, a: 2 }] }, LETTERS)).toBe(
    '{"a":{"z":1,"y":2},"b":{"y":{"d":1,"c":2},"z":1},"kind":"X","list":[{"a":2,"b":1}]}',
  );
});

test('of a JSON patch, what its pointers go through', () => {
  const result = {
    'a/b': { z: { d: 1, c: 2 }, y: 1 },
    'A~': [
      { q: 1, p: 2 },
      { q: 1, p: 2 },
    ],
    __proto__: 1,
  };
  const operations = [
    { op: 'add', path: '/a~1b/z', value: {} },
    { op: 'move', from: '/A~0/1/x', path: '/__proto__/x' },
    { op: 'test', path: 5 },
    'no operation',
  ] as JsonValue;
  expect(operatedJson(result, operations, LETTERS)).toBe(
    '{"A~":[{"q":1,"p":2},{"p":2,"q":1}],"a/b":{"y":1,"z":{"d":1,"c":2}}}',
  );
});

test('characters that would mean something in a page are escaped, as in all JSON of Go', () => {
  expect(mergedJson({ a: '<&>\u2028' }, {}, LETTERS)).toBe('{"a":"\\u003c\\u0026\\u003e\\u2028"}');
});

test('values are printed as Go prints them, and no more of them than asked for', () => {
  expect(goPlain({ b: [1, 1.5, true, null, 'x y'], a: { z: 'é' }, c: {}, d: [] })).toBe(
    'map[a:map[z:é] b:[1 1.5 true <nil> x y] c:map[] d:[]]',
  );
  expect(goPlain(1e21)).toBe('1e+21');
  expect(goPlain(['abc', 'def', 'ghi'], 6)).toBe('[abc d...');
});

test('large values take no longer than what is shown of them', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`k${n}`, '<<<<']));
  const spentMs = cpuMsOf(() => {
    expect(goPlain({ a: wide, b: wide }, 100).length).toBeLessThan(120);
    expect(mergedJson({ a: wide }, { a: wide }, 100).length).toBeLessThan(120);
  });
  expect(spentMs).toBeLessThan(500);
});
