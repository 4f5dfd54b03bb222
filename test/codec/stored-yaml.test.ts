import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { fromStoredYaml, toStoredYaml } from '../../src/codec/stored-yaml.ts';

const OBJECT =
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","labels":{"x":"}],\\"\\\\"}},"data":{"n":12345678901234567890,"f":1.50,"e":[],"é":"\\u0000\\n: \\\\"},"immutable":true,"a b":"\\\\\\""}';

test('an object goes to YAML and back without a changed byte, a line for each field', () => {
  const yaml = toStoredYaml(Buffer.from(OBJECT));
  expect(yaml.toString().split('\n')[0]).toBe('kind: "ConfigMap"');
  expect(yaml.toString().match(/\n/g)).toHaveLength(6);
  expect(fromStoredYaml(yaml).toString()).toBe(OBJECT);
});

test('another parser reads the same in it', () => {
  expect(parse(toStoredYaml(Buffer.from(OBJECT)).toString())).toEqual(JSON.parse(OBJECT));
});

test('what a hand has written in another style is read', () => {
  const yaml = Buffer.from('apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: "1"\n');
  expect(fromStoredYaml(yaml).toString()).toBe(
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"a":"1"}}',
  );
});

test.each(['', 'nonsense', 'kind: "a', '- a\n', 'kind: "A"\nmetadata: 1\n'])('%j is refused', (text) => {
  expect(() => fromStoredYaml(Buffer.from(text))).toThrow(SyntaxError);
});
