import { expect, test } from 'vitest';
import { RuleCompiler } from '../../../src/structural/rules/programs.ts';
import { typeOfSchema } from '../../../src/structural/rules/rule-types.ts';

/** An expression that fails for every object is refused when it is compiled. */

const SELF = typeOfSchema({
  type: 'object',
  properties: {
    s: { type: 'string' },
    x: { 'x-kubernetes-int-or-string': true },
    t: { type: 'string', format: 'date-time' },
    m: { type: 'object', additionalProperties: { type: 'string' } },
    l: { type: 'array', items: { type: 'object', properties: { k: { type: 'string' } } } },
  },
});

function problemOf(rule: string): string {
  if (SELF === undefined) throw new Error('expressions cannot see it');
  return new RuleCompiler().compile({ rule }, SELF).problem.split('\n')[0] ?? '';
}

const at = (column: number, why: string): string => `compilation failed: ERROR: <input>:1:${column}: ${why}`;

test.each([
  ["duration('1') == duration('1s')", at(10, 'invalid duration argument')],
  ["duration('1us') < duration('1nns')", at(28, 'invalid duration argument')],
  ["timestamp('1000-00-00T00:00:00Z') == self.t", at(11, 'invalid timestamp argument')],
  ["timestamp('1000-01-01T00:00:00ZZ') == self.t", at(11, 'invalid timestamp argument')],
  ['timestamp(-62135596801) == self.t', at(11, 'invalid timestamp argument')],
  ["self.s.matches(')')", at(16, 'invalid matches argument')],
  ["self.s.matches('x++')", at(16, 'invalid matches argument')],
  ["self.s.find(')') == ''", 'program instantiation failed: error parsing regexp: unexpected ): `)`'],
  ["[1, 'a', false].exists(x, x == 'a')", at(5, "expected type 'int' but found 'string'")],
  ['[self.l[0], null].size() == 2', at(13, "expected type 'selfType2' but found 'null'")],
  ['[1, self.x].size() == 2', at(9, "expected type 'int' but found 'dyn'")],
  ["{'a': self.x, 'b': 1}.size() == 2", at(20, "expected type 'dyn' but found 'int'")],
  ["{'a': 'b', 'c': 1} == self.m", at(17, "expected type 'string' but found 'int'")],
  [
    "self.l[0] == {'k': 'a'}",
    at(11, "found no matching overload for '_==_' applied to '(selfType2, map(string, string))'"),
  ],
])('%s is refused', (rule, problem) => {
  expect(problemOf(rule)).toBe(problem);
});

test.each([
  "duration('0') == duration('0s')",
  "'%d %s'.format([1, 'a']) == ''",
  "[[], ['a']].size() == 2",
  "self.t.getHours('02:00') == 1",
  "{'a': 1, 'b': 2}.size() == 2",
])('%s is no mistake', (rule) => {
  expect(problemOf(rule)).toBe('');
});
