import { describe, expect, test } from 'vitest';
import { areAllowed, covers, mergeTolerations } from '../../src/admission/plugins/tolerations.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';

const exists = (key: string, effect?: string, tolerationSeconds?: number): JsonObject => ({
  operator: 'Exists',
  ...(key === '' ? {} : { key }),
  ...(effect === undefined ? {} : { effect }),
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});
const equals = (key: string, value: string, effect?: string, tolerationSeconds?: number): JsonObject => ({
  ...exists(key, effect, tolerationSeconds),
  operator: 'Equal',
  value,
});

const KNOWN: Readonly<Record<string, JsonObject>> = {
  all: exists(''),
  'all-nosched': exists('', 'NoSchedule'),
  'all-noexec': exists('', 'NoExecute'),
  foo: exists('foo'),
  'foo-bar': equals('foo', 'bar'),
  'foo-nosched': exists('foo', 'NoSchedule'),
  'foo-bar-nosched': equals('foo', 'bar', 'NoSchedule'),
  'foo-baz-nosched': equals('foo', 'baz', 'NoSchedule'),
  'faz-nosched': exists('faz', 'NoSchedule'),
  'faz-baz-nosched': equals('faz', 'baz', 'NoSchedule'),
  'foo-prefnosched': exists('foo', 'PreferNoSchedule'),
  'foo-noexec': exists('foo', 'NoExecute'),
  'foo-bar-noexec': equals('foo', 'bar', 'NoExecute'),
  'foo-noexec-10': exists('foo', 'NoExecute', 10),
  'foo-noexec-0': exists('foo', 'NoExecute', 0),
  'foo-bar-noexec-10': equals('foo', 'bar', 'NoExecute', 10),
};
const of = (...names: string[]): JsonObject[] => names.map((name) => KNOWN[name] ?? {});

describe('a toleration covers itself and those that tolerate less', () => {
  test.each([
    ['all', Object.keys(KNOWN)],
    ['all-nosched', ['foo-nosched', 'foo-bar-nosched', 'foo-baz-nosched', 'faz-nosched', 'faz-baz-nosched']],
    ['all-noexec', ['foo-noexec', 'foo-bar-noexec', 'foo-noexec-10', 'foo-noexec-0', 'foo-bar-noexec-10']],
    ['foo', Object.keys(KNOWN).filter((name) => name.startsWith('foo'))],
    ['foo-bar', ['foo-bar-nosched', 'foo-bar-noexec', 'foo-bar-noexec-10']],
    ['foo-nosched', ['foo-bar-nosched', 'foo-baz-nosched']],
    ['foo-bar-nosched', []],
    ['faz-nosched', ['faz-baz-nosched']],
    ['foo-noexec', ['foo-bar-noexec', 'foo-noexec-10', 'foo-noexec-0', 'foo-bar-noexec-10']],
    ['foo-bar-noexec', ['foo-bar-noexec-10']],
    ['foo-noexec-10', ['foo-noexec-0', 'foo-bar-noexec-10']],
    ['foo-noexec-0', []],
    ['foo-bar-noexec-10', []],
  ])('%s', (wide, narrow) => {
    const covered = Object.keys(KNOWN).filter((name) => covers(KNOWN[wide] ?? {}, KNOWN[name] ?? {}));
    expect(covered.sort()).toEqual([...new Set([wide, ...narrow])].sort());
  });
});

describe('merging', () => {
  test.each([
    ['others', ['foo-bar-nosched', 'faz-baz-nosched'], ['foo-prefnosched', 'foo-baz-nosched'], undefined],
    [
      'the same',
      ['foo-bar-nosched', 'foo-noexec-10'],
      ['foo-bar-nosched', 'foo-noexec-10'],
      ['foo-bar-nosched', 'foo-noexec-10'],
    ],
    [
      'wider ones',
      ['foo-bar-nosched', 'foo-baz-nosched'],
      ['foo-nosched', 'faz-baz-nosched'],
      ['foo-nosched', 'faz-baz-nosched'],
    ],
    ['the widest', ['foo-bar-nosched', 'foo-baz-nosched', 'foo-noexec-10'], ['all'], ['all']],
    ['narrower ones', ['all'], ['foo-bar-nosched', 'foo-noexec-10'], ['all']],
  ])('%s', (_, first, second, merged) => {
    expect(mergeTolerations(of(...first), of(...second))).toEqual(of(...(merged ?? [...first, ...second])));
  });
});

test.each([
  [['foo-bar-nosched', 'foo-bar-nosched'], ['foo-bar-nosched', 'foo-baz-nosched'], true],
  [['foo-bar-nosched'], ['all'], true],
  [['foo-bar-nosched', 'foo-baz-nosched'], ['foo-baz-nosched'], false],
  [['foo-bar'], ['foo-nosched'], false],
  [['foo-bar'], [], true],
  [[], ['foo-bar'], true],
])('of %s with %s allowed: %s', (tolerations, allowed, expected) => {
  expect(areAllowed(of(...tolerations), of(...allowed))).toBe(expected);
});
