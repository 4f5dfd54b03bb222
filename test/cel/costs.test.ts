import { expect, test } from 'vitest';
import { CALL_LIMIT } from '../../src/cel/budget.ts';
import { compileCel, toCel } from '../../src/cel/program.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';

/** The cost of an expression is proportional to its CPU time, for every function. */

const LONG = 'x'.repeat(3_000_000);
const MANY = Array.from({ length: 3000 }, (_, at) => at);
const TYPES = {
  text: 'string',
  other: 'string',
  many: 'list<int>',
  data: 'bytes',
  same: 'bytes',
  at: 'google.protobuf.Timestamp',
};
const VALUES = {
  text: LONG,
  other: `${LONG.slice(1)}y`,
  many: toCel(MANY),
  data: new Uint8Array(3_000_000),
  same: new Uint8Array(3_000_000),
  at: new Date(0),
};

const costOf = (expression: string): number => compileCel(expression, TYPES).run(VALUES).cost;

test.each([
  'many.all(i, text.size() > 0)',
  "many.all(i, !text.contains('y'))",
  'many.all(i, text != other)',
  'many.all(i, text < other || text > other)',
  "many.all(i, text.indexOf('y') < 0)",
  "many.all(i, text.trim() != '')",
  "many.all(i, text.replace('x', 'xx') != '')",
  "many.all(i, text.split('y').size() == 1)",
  'many.all(i, data == same)',
  'many.all(i, (data + data).size() > 0)',
  "many.all(i, at.getHours('Europe/Berlin') > 0)",
  "many.all(i, text.matches('^x{1,500}(x?){300}z*$'))",
  'many.all(i, !isIP(text))',
  'many.all(i, !isQuantity(text))',
  'many.all(i, !format.qualifiedName().validate(text).hasValue() || true)',
])('%s ends before it keeps the server', (expression) => {
  const program = compileCel(expression, TYPES);
  const cpuMs = cpuMsOf(() => {
    expect(() => program.run(VALUES)).toThrow('operation cancelled: actual cost limit exceeded');
  });
  expect(cpuMs).toBeLessThan(1500);
});

test('a duration that is too long to be one is refused, not read', () => {
  const program = compileCel("duration(text) == duration('1s')", { text: 'string' });
  expect(
    cpuMsOf(() =>
      expect(() => program.run({ text: '9'.repeat(1_000_000) })).toThrow('time: invalid duration'),
    ),
  ).toBeLessThan(500);
});

test('short texts and the ends of long ones cost little', () => {
  expect(costOf("many.all(i, 'abc'.startsWith('a'))")).toBeLessThan(CALL_LIMIT / 50);
  expect(costOf("many.all(i, text.startsWith('x') && !text.endsWith('y'))")).toBeLessThan(CALL_LIMIT / 30);
});

test('offsets of time zones need no sign, and 0 is a duration', () => {
  const evaluate = (expression: string): unknown => compileCel(expression, TYPES).run(VALUES).result;
  expect(evaluate("at.getHours('02:00')")).toBe(2n);
  expect(evaluate("at.getHours('-02:00')")).toBe(22n);
  expect(evaluate("duration('0') == duration('0s')")).toBe(true);
  expect(evaluate("url('https://a.example/b?c=d#e').getQuery() == {'c': ['d']}")).toBe(true);
});
