import { expect, test } from 'vitest';
import { repeatedKeysError, warningsOf } from '../../src/codec/yaml-problems.ts';
import { parseYamlText } from '../../src/codec/yaml-text.ts';

// Sentences and lines are those of libyaml 0.2.5, lines counted as go-yaml counts them.
test.each([
  ['a: b: c', 'yaml: mapping values are not allowed in this context'],
  ['x: 1\na: b: c', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a: 1\n b: 2', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a\nb: 1', 'yaml: line 2: mapping values are not allowed in this context'],
  ['a: [', 'yaml: line 1: did not find expected node content'],
  ['{', 'yaml: line 1: did not find expected node content'],
  ['a: ]', 'yaml: did not find expected node content'],
  ['}', 'yaml: did not find expected node content'],
  ['a: [1\nb: 2', "yaml: line 1: did not find expected ',' or ']'"],
  ['a: {b: 1', "yaml: line 1: did not find expected ',' or '}'"],
  ['{"a" 1}', "yaml: did not find expected ',' or '}'"],
  ['{a: 1 b: 2}', "yaml: did not find expected ',' or '}'"],
  ['"abc', 'yaml: found unexpected end of stream'],
  ["a: 'x\nb: 1\n", 'yaml: line 3: found unexpected end of stream'],
  ['a:\n\tb: 1', 'yaml: line 2: found character that cannot start any token'],
  ['a: @x', 'yaml: found character that cannot start any token'],
  ['a: 1\nb', "yaml: line 3: could not find expected ':'"],
  ['a: 1\n- b', 'yaml: line 1: did not find expected key'],
  ['a: 1\nb: "c" d', 'yaml: line 1: did not find expected key'],
  ['a: |x\n y', 'yaml: did not find expected comment or line break'],
  ['a: "\\q"', 'yaml: found unknown escape character'],
  ['a: &', 'yaml: did not find expected alphabetic or numeric character'],
  ['a: *nope', "yaml: unknown anchor 'nope' referenced"],
  ['<<: 1\na: 2', 'yaml: map merge requires map or sequence of maps as the value'],
  ['a: .inf', 'json: unsupported value: +Inf'],
  ['a: .nan', 'json: unsupported value: NaN'],
])('%j is refused in the words of Kubernetes', (text, error) => {
  expect(() => parseYamlText(Buffer.from(text))).toThrow(new SyntaxError(error));
});

const repeated = (text: string): readonly string[] => parseYamlText(Buffer.from(text)).duplicates;

test('repeated keys are reported by the line of their second value, those inside a value before its own', () => {
  const text = `a: 1
b:
- x: 1
  y: {p: 1,
      p: 2}
  x: 2
a:
  c: 1
  c: 2
1: x
1: y
"1": z
true: 1
true: 2
d: &d {e: 1}
f: {<<: *d, <<: *d}
`;
  expect(repeated(text)).toEqual([
    'line 5: key "p" already set in map',
    'line 6: key "x" already set in map',
    'line 9: key "c" already set in map',
    'line 8: key "a" already set in map',
    'line 11: key 1 already set in map',
    'line 14: key true already set in map',
  ]);
});

test('JSON that is sent as YAML is reported in the same words', () => {
  expect(repeated('{"a":{"b":1,"b":2}}')).toEqual(['line 1: key "b" already set in map']);
  const lines = '{\n "a": 1,\n "a": {\n  "b.c": 1,\n  "b.c":\n   2,\n  "b.c": "a" },\n "a": []\n}\n';
  expect(repeated(lines)).toEqual([
    'line 6: key "b.c" already set in map',
    'line 7: key "b.c" already set in map',
    'line 3: key "a" already set in map',
    'line 8: key "a" already set in map',
  ]);
});

test('of five hundred repeated keys, a hundred are reported', () => {
  expect(repeated('a: 1\n'.repeat(500))).toHaveLength(100);
});

test('one error holds all lines, and is a warning for each', () => {
  const lines = ['line 1: key "a" already set in map', 'line 2: key "b" already set in map'];
  const error = repeatedKeysError(lines);
  expect(error).toBe(`yaml: unmarshal errors:\n  ${lines[0]}\n  ${lines[1]}`);
  expect(warningsOf(error)).toEqual(lines);
  expect(warningsOf('unknown field "a"')).toEqual(['unknown field "a"']);
});
