import { expect, test } from 'vitest';
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
