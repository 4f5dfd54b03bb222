import { describe, expect, test } from 'vitest';
import { compileCel } from '../../src/cel/program.ts';
import { RuleCompiler } from '../../src/structural/rules/programs.ts';
import { typeOfSchema } from '../../src/structural/rules/rule-types.ts';

const evaluate = (expression: string): unknown =>
  compileCel(expression, { object: 'dyn' }).evaluate({ object: { a: 1, list: ['x'] } });

describe('an entry with a question mark is there if its value is', () => {
  test.each([
    "['a', ?optional.none(), 'c'] == ['a', 'c']",
    "['a', ?optional.of('b'), 'c'] == ['a', 'b', 'c']",
    '[?object.?a, ?object.?b] == [1]',
    '[?object.list[?0], ?object.list[?1]] == ["x"]',
    "{?'k': optional.none(), 'k2': 'v2'} == {'k2': 'v2'}",
    "{?'k': optional.of('v'), 'k2': 'v2'} == {'k': 'v', 'k2': 'v2'}",
    "{?'a': object.?a, ?'b': object.?b}.size() == 1",
    "has({?'a': object.?a}.a) && {?'a': object.?a}['a'] == 1",
    '[[?object.?b], [1]].size() == 2',
  ])('%s', (expression) => {
    expect(evaluate(expression)).toBe(true);
  });

  test.each(['[?1] == [1]', "{?'a': 1} == {}"])(
    'a value that is no optional is refused: %s',
    (expression) => {
      expect(() => evaluate(expression)).toThrow('expected type');
    },
  );

  test.each(['?object.a', '(?object.a)', 'size(?object.a) == 1', "{'a': ?object.?a} == {}"])(
    'and nothing else has a question mark: %s',
    (expression) => {
      expect(() => evaluate(expression)).toThrow('QUESTION');
    },
  );
});

test('rules of schemas know such entries', () => {
  const self = typeOfSchema({ type: 'object', properties: { s: { type: 'string' } } });
  if (self === undefined) throw new Error('expressions cannot see it');
  const problemOf = (rule: string): string => new RuleCompiler().compile({ rule }, self).problem;
  expect(problemOf("[?self.?s, 'a'].size() == 2 && {?'a': self.?s, 'b': 'c'}.size() == 2")).toBe('');
  expect(problemOf("[?self.?s, 'a', 1].size() == 2")).toContain("expected type 'string' but found 'int'");
});
