import { expect, test } from 'vitest';
import { duplicate, invalidValue, notSupported } from '../../src/object/field-errors.ts';
import {
  goAny,
  goList,
  goQuote,
  goStrings,
  goStruct,
  goText,
  goValue,
  shownJson,
} from '../../src/object/go-value.ts';
import { goLabelSelector, goServicePort, goToleration } from '../../src/resources/rules/go-structs.ts';

test.each<[unknown, string]>([
  [null, '"null"'],
  [undefined, '"null"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['tab\tline\nbell\x07nul\0del\x7f', '"tab\\tline\\nbell\\anul\\x00del\\x7f"'],
  ['grün ✓ <&> 😀', '"grün ✓ <&> 😀"'],
  ['no\u00a0break \u200b \ufeff', '"no\\u00a0break \\u200b \\ufeff"'],
  [true, 'true'],
  [-3, '-3'],
  [0.5, '0.5'],
  [1e21, '1e+21'],
  [0.00001, '1e-05'],
  [0.0001, '0.0001'],
  [123456.5, '123456.5'],
  [1234567.5, '1.2345675e+06'],
  [-1234567, '-1234567'],
  [2 ** 60, '1.152921504606847e+18'],
  [9007199254740993n, '9007199254740993'],
  [['a', 'b'], '[]string{"a", "b"}'],
])('%s is written as Go writes it', (value, text) => {
  expect(goValue(value)).toBe(text);
});

test('lists, maps and structs are named by their types', () => {
  expect(goList('core.IPFamily', ['IPv4']).text).toBe('[]core.IPFamily{"IPv4"}');
  expect(goList('int32', undefined).text).toBe('[]int32(nil)');
  expect(goStrings({ b: '2', a: '1' }).text).toBe('map[string]string{"a":"1", "b":"2"}');
  expect(goStruct('rbac.RoleRef', { Kind: 'Role', Names: goText('[]string(nil)') }).text).toBe(
    'rbac.RoleRef{Kind:"Role", Names:[]string(nil)}',
  );
  expect(goValue(goAny({ b: [1, null, 'x'], a: { c: true } }))).toBe(
    'map[string]interface {}{"a":map[string]interface {}{"c":true}, "b":[]interface {}{1, interface {}(nil), "x"}}',
  );
  expect(goValue(goAny('plain'))).toBe('"plain"');
});

test('errors of fields carry such values', () => {
  expect(invalidValue('f', ['a'], 'is wrong').message).toBe('Invalid value: []string{"a"}: is wrong');
  expect(duplicate('f', goText('core.X{}')).message).toBe('Duplicate value: core.X{}');
  expect(notSupported('f', 'x', ['a', 'b']).message).toBe(
    'Unsupported value: "x": supported values: "a", "b"',
  );
  expect(goQuote('')).toBe('""');
});

test.each<[unknown, string]>([
  [goList('core.IPFamily', ['IPv4', 'IPv6']), '["IPv4","IPv6"]'],
  [goList('int32', undefined), 'null'],
  [goStrings({ b: '2', a: '1' }), '{"a":"1","b":"2"}'],
  [goStrings(undefined), 'null'],
  [
    goStruct('rbac.RoleRef', { Kind: 'Role', Names: goList('string', ['a']) }),
    '{"Kind":"Role","Names":["a"]}',
  ],
  [
    goAny({ b: [1, null, 'x<y>&\u2028'], a: 2n ** 60n }),
    '{"a":1152921504606846976,"b":[1,null,"x\\u003cy\\u003e\\u0026\\u2028"]}',
  ],
  [goLabelSelector({}), '{}'],
  [
    goLabelSelector({ matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] }),
    '{"matchLabels":{"a":"b"},"matchExpressions":[{"key":"c","operator":"Exists"}]}',
  ],
  [
    goToleration({ key: 'k', tolerationSeconds: 3 }),
    '{"Key":"k","Operator":"","Value":"","Effect":"","TolerationSeconds":3}',
  ],
  [
    goServicePort({ protocol: 'TCP', port: 80 }),
    '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
  ],
])('%s has JSON as Go writes it', (value, json) => {
  expect(shownJson(value)).toBe(json);
  expect(duplicate('f', value).messageSince134).toBe(`Duplicate value: ${json}`);
});

test('a text or number is the same in all versions', () => {
  for (const value of ['a<b', 1, true, goAny('x'), goText('5s')])
    expect(invalidValue('f', value, 'is wrong')).not.toHaveProperty('messageSince134');
});

test.each([null, undefined])('%s is the text "null" before 1.34, and JSON since', (value) => {
  expect(invalidValue('f', value, 'is wrong')).toMatchObject({
    message: 'Invalid value: "null": is wrong',
    messageSince134: 'Invalid value: null: is wrong',
  });
});
