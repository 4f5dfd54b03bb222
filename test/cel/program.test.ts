import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { mapCode, selectsField } from '../../src/cel/map-code.ts';
import { compileCel } from '../../src/cel/program.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

const evaluate = (expression: string, claims: JsonValue = {}): unknown =>
  compileCel(expression, { claims: 'map<string, dyn>' }).evaluate({ claims });

test('a pattern is matched in linear time, however bad it is', () => {
  const cpuMs = cpuMsOf(() => {
    expect(evaluate("claims.text.matches('^(a+)+$')", { text: `${'a'.repeat(5000)}!` })).toBe(false);
    expect(evaluate("matches(claims.text, '(x|x)*y')", { text: 'x'.repeat(5000) })).toBe(false);
  });
  expect(cpuMs).toBeLessThan(2000);
});

test('patterns are those of Go', () => {
  expect(evaluate("'ab1'.matches('[[:digit:]]$')")).toBe(true);
  expect(() => evaluate("'a'.matches('(?=' + 'a)')")).toThrow('invalid or unsupported Perl syntax');
  expect(evaluate("'a-b-c'.findAll('[a-z]')")).toEqual(['a', 'b', 'c']);
  expect(evaluate("'a-b-c'.find('-.')")).toBe('-b');
  expect(evaluate("'a-b-c'.replace('-', '+', 1)")).toBe('a+b-c');
});

test('words inside of strings and comments are no code', () => {
  expect(evaluate("'x.matches(y)'")).toBe('x.matches(y)');
  expect(evaluate('r"\\matches("')).toBe('\\matches(');
  expect(mapCode("a + 'a' // a", (code) => code.replaceAll('a', 'b'))).toBe("b + 'a' // a");
  expect(selectsField("'claims.email'", 'claims', 'email')).toBe(false);
  expect(selectsField('claims.?email.orValue("")', 'claims', 'email')).toBe(true);
  expect(selectsField('claims.email_verified', 'claims', 'email')).toBe(false);
  expect(selectsField('other.claims.email', 'claims', 'email')).toBe(false);
});

test('whole numbers are integers, and nothing of JavaScript shows through', () => {
  expect(evaluate('claims.n + 1', { n: 2 })).toBe(3n);
  expect(evaluate('claims.n > 1.5', { n: 1.75 })).toBe(true);
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(evaluate(`has(claims.${name})`)).toBe(false);
    expect(() => evaluate(`claims.${name}`)).toThrow('No such key');
  }
});

test('the error of an expression is one line', () => {
  expect(() => evaluate('1 +')).toThrow(/^Unexpected token: EOF$/);
  expect(() => evaluate('missing.field')).toThrow('Unknown variable: missing');
  expect(() => evaluate("1.matches('x')")).toThrow(/matches/);
  expect(() => evaluate(`${'('.repeat(300)}1${')'.repeat(300)}`)).toThrow(
    'expression recursion limit exceeded: 250',
  );
});

const chain = (length: number, term: string, operator: string): string =>
  Array.from({ length }, () => term).join(operator);
const nested = (depth: number, open: string, inner: string, close: string): string =>
  `${open.repeat(depth)}${inner}${close.repeat(depth)}`;

test.each([
  ['additions', (most: number) => `${chain(most, '1', ' + ')} > 0`, 250, 'max recursion depth exceeded'],
  ['comparisons', (most: number) => chain(most, 'true', ' == '), 251, 'max recursion depth exceeded'],
  ['fields', (most: number) => `claims${'.a'.repeat(most)}`, 250, 'max recursion depth exceeded'],
  ['indexes', (most: number) => `claims${"['a']".repeat(most)}`, 250, 'max recursion depth exceeded'],
  [
    'brackets',
    (most: number) => nested(most, '(', '1', ')'),
    249,
    'expression recursion limit exceeded: 250',
  ],
  [
    'texts in brackets',
    (most: number) => nested(most, '(', "'('", ')'),
    249,
    'expression recursion limit exceeded: 250',
  ],
  ['lists', (most: number) => nested(most, '[', '', ']'), 250, 'expression recursion limit exceeded: 250'],
])('%s are as deep as Kubernetes lets them be', (_, make, most, why) => {
  const compile = (expression: string) => () => compileCel(expression, { claims: 'dyn' });
  expect(compile(make(most))).not.toThrow();
  expect(compile(make(most + 1))).toThrow(why);
  expect(compile(make(most + 10_000))).toThrow(why);
});

test('chains of && and || have no end but that of the expression', () => {
  for (const operator of [' && ', ' || '])
    expect(compileCel(chain(10_000, 'true', operator), {}).evaluate({})).toBe(true);
});

test('an expression may have every operation next to every other one', () => {
  const wide = `[${chain(400, '(1 + 2).b', ', ').replaceAll('.b', '')}].size() == 400`;
  expect(compileCel(wide, {}).evaluate({})).toBe(true);
});
