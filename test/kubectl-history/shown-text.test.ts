import fc from 'fast-check';
import { expect, test } from 'vitest';
import { differences } from '../../src/kubectl-history/line-differences.ts';
import { toColumns } from '../../src/kubectl-history/printed-columns.ts';
import { toChanges, toValue } from '../../src/kubectl-history/shown-changes.ts';
import { cutEnd, cutStart, toShown, toShownJson, widthOf } from '../../src/kubectl-history/shown-text.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
const EFFECTIVE = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;
const hostile = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 1 }),
    fc.constantFrom('\u001b', '\n', '\u202e', '\u009b', '"'),
  ),
});
const paint = (_: unknown, text: string): string => text;

test('no text has an effect on a terminal, at any place in the output', () => {
  fc.assert(
    fc.property(hostile, hostile, (a, b) => {
      const layout = { paint, indent: 4, width: 60, most: 20 };
      const rows = toColumns(
        [{ a, b }],
        [
          { heading: 'A', text: (row) => row.a },
          { heading: 'B', text: (row) => row.b },
        ],
        { paint, width: undefined },
      );
      for (const shown of [
        toShown(a),
        toValue(a, 40),
        toChanges({ changes: [{ path: `data[${JSON.stringify(a)}]`, old: a, new: b }] }, layout),
        rows,
      ]) {
        expect(shown).not.toMatch(EFFECTIVE);
      }
      expect(rows.split('\n')).toHaveLength(3);
    }),
    { seed: 17, numRuns: 200 },
  );
});

test('JSON that is escaped means the same', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const shown = toShownJson(JSON.stringify({ text }, undefined, 2));
      expect(shown).not.toMatch(EFFECTIVE);
      expect(JSON.parse(shown)).toEqual({ text });
    }),
    { seed: 17, numRuns: 200 },
  );
});

test('what is cut is no wider than was asked', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, width) => {
      expect(widthOf(cutEnd(text, width))).toBeLessThanOrEqual(width);
      expect(widthOf(cutStart(text, width))).toBeLessThanOrEqual(width);
    }),
    { seed: 17 },
  );
});

test('very long values are cut', () => {
  const long = 'x'.repeat(1_000_000);
  const layout = { paint, indent: 4, width: undefined, most: 20 };
  expect(
    toChanges({ changes: [{ path: 'data.a', old: long, new: `y${long}` }] }, layout).length,
  ).toBeLessThan(500);
  const lines = 'line\n'.repeat(100);
  const block = toChanges({ changes: [{ path: 'data.a', old: 'x\ny\n', new: lines }] }, layout);
  expect(block).toContain('… 86 more lines\n');
});

test('texts that have little in common are not compared', () => {
  const lines = (letter: string): string =>
    Array.from({ length: 1500 }, (_, at) => `${letter}${at}\n`).join('');
  const [hunk, ...others] = differences(`same\n${lines('a')}`, `same\n${lines('b')}`, 3);
  expect(others).toEqual([]);
  expect(hunk?.lines[0]).toBe('-same');
  expect(hunk?.lines[1501]).toBe('+same');
});
