import { expect, test } from 'vitest';
import { repeatedKeysError, warningsOf } from '../../src/codec/yaml-repeated-keys.ts';
import { parseYamlText } from '../../src/codec/yaml-text.ts';

const repeated = (text: string): readonly string[] => parseYamlText(Buffer.from(text)).duplicates;

test('repeated keys are told by the line of their second value, those inside a value before its own', () => {
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

test('JSON that is sent as YAML is told of in the same words', () => {
  expect(repeated('{"a":{"b":1,"b":2}}')).toEqual(['line 1: key "b" already set in map']);
});

test('however many there are, a hundred are told', () => {
  expect(repeated('a: 1\n'.repeat(500))).toHaveLength(100);
});

test('one error holds all lines, and is a warning for each', () => {
  const lines = ['line 1: key "a" already set in map', 'line 2: key "b" already set in map'];
  const error = repeatedKeysError(lines);
  expect(error).toBe(`yaml: unmarshal errors:\n  ${lines[0]}\n  ${lines[1]}`);
  expect(warningsOf(error)).toEqual(lines);
  expect(warningsOf('unknown field "a"')).toEqual(['unknown field "a"']);
});
