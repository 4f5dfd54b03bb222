import fc from 'fast-check';
import { expect, test } from 'vitest';
import { searchInSteps } from '../../src/structural/pattern-search.ts';
import { sizeOfPattern } from '../../src/structural/pattern-size.ts';
import { compilePattern, matchesPattern, PatternError } from '../../src/structural/patterns.ts';
import { validateInSteps } from '../../src/structural/validate-value.ts';
import { validationPace } from '../../src/structural/validation-pace.ts';
import { atOnce } from '../../src/util/turns.ts';
import { cases } from '../kit/cases.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';
import { longestStep } from './longest-step.ts';

test('patterns are those of Go, and hostile ones take no longer than others', () => {
  expect(matchesPattern('(?i)^a(?P<rest>[[:alpha:]]*)$', 'ABC')).toBe(true);
  expect(() => compilePattern('a(?!b)')).toThrow(PatternError);
  const cpuMs = cpuMsOf(() => expect(matchesPattern('^(a+)+$', `${'a'.repeat(5000)}b`)).toBe(false));
  expect(cpuMs).toBeLessThan(2000);
});

const search = (pattern: string, text: string): boolean =>
  atOnce(searchInSteps(compilePattern(pattern), text, validationPace()));

test.each([
  ['^a.c$', ['abc', 'a\nc', 'abcd', '']],
  ['(?s)^a.c$', ['a\nc']],
  ['(?m)^b$', ['a\nb\nc', 'ab']],
  ['\\bfoo\\b', ['a foo b', 'afoo', 'foo']],
  ['\\Boo\\B', ['fooo', 'oo']],
  ['(?i)straße|K', ['STRASSE', 'STRAßE', '\u212a', 'k']],
  ['^[^a-c]+$', ['def', 'dea', '😀']],
  ['^.$', ['😀', 'ab', '\ud83d']],
  ['\\p{Greek}{2}\\z', ['aαβ', 'α']],
  ['', ['', 'a']],
  ['$^', ['', 'a']],
  ['(a|ab)(c|bcd)(d*)$', ['abcd', 'abc']],
])('the search in turns finds for %s what the library finds', (pattern, texts) => {
  for (const text of texts) expect(search(pattern, text)).toBe(matchesPattern(pattern, text));
});

test('the search in turns agrees with the library on random patterns and texts', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\w',
    '\\b',
    '^',
    '$',
    '(?i:A)',
    '\\n',
    'ä',
    '😀',
  );
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{0,2}?', '*?'))
        .map(([a, repeat]) => `(?:${a})${repeat}`),
    ),
  }));
  const text = fc.array(fc.constantFrom('a', 'b', 'A', '\n', 'ä', '😀', '\ud83d', ' '), { maxLength: 8 });
  fc.assert(
    fc.property(pattern, text, (expression, characters) => {
      const whole = characters.join('');
      expect(search(expression, whole)).toBe(matchesPattern(expression, whole));
    }),
    { numRuns: cases(1500), seed: 15 },
  );
});

test.each<[string, number, number]>([
  ['', 0, 0],
  ['abc', 3, 5],
  ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', 60, 150],
  ['((a{9}){9}){9}', 729, 1200],
  ['a{3,}b{2}', 6, 10],
  ['[]a]{5}[^]\\]]{5}[[:alpha:]]{5}', 15, 20],
  ['\\p{Greek}{10}\\pL', 200, 300],
  ['\\{9\\}{2}', 3, 8],
  ['(((', 0, 10],
  [')){1000}', 0, 5000],
])('the size of %s is about what it is compiled to', (pattern, least, most) => {
  const size = sizeOfPattern(pattern);
  expect(size).toBeGreaterThanOrEqual(least);
  expect(size).toBeLessThanOrEqual(most);
});

test('a pattern that becomes a large program is refused before it is compiled', () => {
  const cpuMs = cpuMsOf(() => {
    for (const pattern of [
      'a{1000}'.repeat(1000),
      `(?:${'a|'.repeat(500_000)}b)`,
      '\\pL{1000}'.repeat(9),
      'a'.repeat(1e6),
    ])
      expect(() => compilePattern(pattern)).toThrow('error parsing regexp: expression too large');
  });
  expect(cpuMs).toBeLessThan(1000);
  expect(matchesPattern('^([a-z]{1,253}\\.){0,3}[a-z]{1,63}$', 'a.b')).toBe(true);
});

/** Without a period, so that the library cannot remember where it was. */
function noise(length: number): string {
  let state = 1;
  let text = '';
  while (text.length < length) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += state > 1073741824 ? 'a' : 'b';
  }
  return text;
}

test('a long text against a slow pattern blocks the thread only shortly', () => {
  const text = noise(300_000);
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: 'a[ab]{800}[cde]' } } };
  const { result, stepMs } = longestStep(validateInSteps({ a: text.slice(0, 30_000) }, schema));
  expect(result).toHaveLength(1);
  expect(stepMs).toBeLessThan(40);
  const quick = { type: 'object', properties: { a: { type: 'string', pattern: '^[ab]+$' } } };
  const long = longestStep(validateInSteps({ a: text }, quick));
  expect(long.result).toEqual([]);
  expect(long.stepMs).toBeLessThan(40);
});

test('many short texts against a slow pattern block the thread only shortly too', () => {
  const text = noise(40_000);
  const pattern = '(?:[ab]{1,400}a[ab]{400})[cde]';
  const schema = { type: 'object', additionalProperties: { type: 'string', pattern } };
  const object = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [`f${at}`, `${text.slice(at * 100, at * 100 + 100)}c`]),
  );
  const { result, stepMs } = longestStep(validateInSteps(object, schema));
  expect(result.length).toBe(300);
  expect(stepMs).toBeLessThan(40);
});
