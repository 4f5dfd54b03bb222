import { expect, test } from 'vitest';
import { Warnings } from '../../src/http/response-headers.ts';

function shown(...texts: string[]): string[] {
  const warnings = new Warnings();
  for (const text of texts) warnings.add(text);
  return warnings.shown();
}

test('warnings are shown once, as they are, while they fit', () => {
  expect(shown('a', 'b', 'a', '')).toEqual(['a', 'b']);
  expect(shown('x'.repeat(4096))).toEqual(['x'.repeat(4096)]);
});

test('when they do not fit together each is cut to 256 characters', () => {
  expect(shown('short', 'x'.repeat(5000), 'y'.repeat(300))).toEqual([
    'short',
    'x'.repeat(256),
    'y'.repeat(256),
  ]);
});

test('cut ones, too, have a bound, in number and length', () => {
  const many = shown(...Array.from({ length: 100_000 }, (_, at) => `${at} ${'x'.repeat(1000)}`));
  expect(many).toHaveLength(16);
  expect(many.join('')).toHaveLength(4096);
});

test('no character is cut in two', () => {
  const [cut = ''] = shown(`${'x'.repeat(255)}😀`, 'y'.repeat(5000));
  expect(cut).toBe('x'.repeat(255));
});
