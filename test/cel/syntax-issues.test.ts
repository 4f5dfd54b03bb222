import { expect, test } from 'vitest';
import { PolicyCompiler } from '../../src/cel/policies/compiler.ts';

const OPERANDS =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** The first error and its place. */
function errorOf(expression: string): string | undefined {
  const compiled = new PolicyCompiler(false).compile(expression, 'bool');
  if (compiled.program !== undefined) return undefined;
  return /^compilation failed: ERROR: <input>:(.*)\n/.exec(compiled.problem)?.[1];
}

// The places and words are those of cel-go 0.20's own tests where these have the mistake.
test.each([
  ['', `1:1: Syntax error: mismatched input '<EOF>' expecting ${OPERANDS}`],
  ['1 +', `1:4: Syntax error: mismatched input '<EOF>' expecting ${OPERANDS}`],
  ['object.a ==', `1:12: Syntax error: mismatched input '<EOF>' expecting ${OPERANDS}`],
  ['1 + +', `1:5: Syntax error: mismatched input '+' expecting ${OPERANDS}`],
  ['*a', `1:1: Syntax error: extraneous input '*' expecting ${OPERANDS}`],
  ['in', `1:1: Syntax error: mismatched input 'in' expecting ${OPERANDS}`],
  ['(1 + ) > 0', `1:6: Syntax error: mismatched input ')' expecting ${OPERANDS}`],
  ['a b', "1:3: Syntax error: extraneous input 'b' expecting <EOF>"],
  ['object.a)', "1:9: Syntax error: extraneous input ')' expecting <EOF>"],
  ["1 == 1 'x' // why", "1:8: Syntax error: extraneous input ''x'' expecting <EOF>"],
  ['1 + 2 3 +', "1:7: Syntax error: mismatched input '3' expecting <EOF>"],
  ['(object.a', "1:10: Syntax error: missing ')' at '<EOF>'"],
  ['object.', "1:8: Syntax error: no viable alternative at input '.'"],
  ['{"a": 1}."a"', `1:10: Syntax error: no viable alternative at input '."a"'`],
  ['object.true == 1', "1:8: Syntax error: mismatched input 'true' expecting IDENTIFIER"],
  ['1 + $', "1:5: Syntax error: token recognition error at: '$'"],
  ['a | b', "1:3: Syntax error: token recognition error at: '| '"],
  ['object.a = 1', "1:10: Syntax error: token recognition error at: '= '"],
])('%j: %s', (expression, error) => {
  expect(errorOf(expression)).toBe(error);
});

test.each(['all', 'exists', 'existsOne', 'map', 'filter'])(
  'two variables of %s and a filter are unknown, as in Kubernetes',
  (macro) => {
    const place = 6 + macro.length;
    expect(errorOf(`[1].${macro}(i, v, v > 0, v) == []`)).toBe(
      `1:${place}: undeclared reference to 'i' (in container '')`,
    );
  },
);
