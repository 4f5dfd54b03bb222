import { expect, test } from 'vitest';
import { parseYamlText } from '../../../src/codec/yaml-text.ts';

const read = (text: string): unknown => parseYamlText(Buffer.from(text)).value;

// What kube-apiserver 1.31 and 1.36 made of each.
const SCALARS: Record<string, unknown> = {
  ...{ '1:30': '1:30', '1:30:45': '1:30:45', '-1:30': '-1:30', '22:22': '22:22' },
  ...{ '017': 15, '-017': -15, '018': 18, '09': 9, '0o17': 15, '0O17': 15, '-0o7': -7, '+0o7': 7, '0o_7': 7 },
  ...{ '0o': '0o', '0o8': '0o8', '0x1F': 31, '0X1F': 31, '-0x1f': -31, '0x': '0x', '0x1_F': 31, '+0x1F': 31 },
  ...{ '0b101': 5, '-0b11': -3, '+0b1': 1, '0b': '0b', '1_000': 1000, _1: '_1', '1_': 1, '1__0': 10 },
  ...{
    '1_000.5': 1000.5,
    '1_0e2': 1000,
    '1e1_0': 1e10,
    '.5': 0.5,
    '5.': 5,
    '+.5': 0.5,
    '-.5': -0.5,
    '1.': 1,
  },
  ...{ '1e3': 1000, '1E3': 1000, '1e+3': 1000, '1.e3': 1000, '.e3': '.e3', '1e': '1e', e3: 'e3' },
  ...{ '1e400': '1e400', '-1e400': '-1e400', '1e-400': 0, '0x1p4': '0x1p4', inf: 'inf', NaN: 'NaN' },
  ...{ '9223372036854775807': 9223372036854775807n, '18446744073709551615': 18446744073709551615n },
  ...{
    '123456789012345678901234567890': 1.2345678901234568e29,
    '-9223372036854775809': -9223372036854776000,
  },
  ...{ '0x1ffffffffffffffff': '0x1ffffffffffffffff', '-0': 0, '+1': 1 },
  ...{ yes: true, YES: true, yEs: 'yEs', on: true, y: true, n: false, off: false, '~': null, nULL: 'nULL' },
  ...{ '2001-01-01': '2001-01-01', '2001-1-1': '2001-1-1', '2001-13-01': '2001-13-01' },
  ...{ '2001-01-01T00:00:00Z': '2001-01-01T00:00:00Z', '2001-01-01 00:00:00': '2001-01-01 00:00:00' },
  ...{ '!!str 1': '1', '!!int "1"': 1, '!!float 1': 1, '!!float 0x1F': 31, '!!bool "yes"': true },
  ...{ '!!null ""': null, '!!binary aGVsbG8=': 'hello', '!!binary "gIGC"': '\ufffd\ufffd\ufffd' },
  ...{ '!!timestamp 2001-01-01': '2001-01-01', '!foo bar': 'bar', '!!set {a, b}': { a: null, b: null } },
  ...{ '!!omap [a: 1]': [{ a: 1 }] },
};

test.each(Object.entries(SCALARS))(
  'the scalar %s is read as Kubernetes reads it, in block and in flow style',
  (name, value) => {
    expect(read(`v: ${name}\n`)).toEqual({ v: value });
    // In brackets, a comma or a bracket would end it.
    if (!/[,[\]{}]/.test(name)) expect(read(`[ ${name} ]`)).toEqual([value]);
  },
);

test.each([
  ['v: !!int 1.0', 'yaml: cannot decode !!float `1.0` as a !!int'],
  ['v: !!null x', 'yaml: cannot decode !!str `x` as a !!null'],
  ['v: !!int 1:30', 'yaml: cannot decode !!str `1:30` as a !!int'],
  ['v: !!timestamp "x"', 'yaml: cannot decode !!str `x` as a !!timestamp'],
  ['v: !!binary "!!"', 'yaml: !!binary value contains invalid base64 data'],
  ['v: .inf', 'json: unsupported value: +Inf'],
  ['~: val', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "val"'],
  ['18446744073709551615: val', 'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "val"'],
  ['[a]: val', 'yaml: invalid map key: []interface {}{"a"}'],
  ['v: &x [*x]', "yaml: anchor 'x' value contains itself"],
  ['%YAML 1.2\n---\nv: 1', 'yaml: found incompatible YAML document'],
  ['v: "a\x01b"', 'yaml: control characters are not allowed'],
  ['v: a\x7fb', 'yaml: control characters are not allowed'],
])('%j is refused in the words of Kubernetes', (text, message) => {
  expect(() => read(`${text}\n`)).toThrow(new SyntaxError(message));
});

test('bytes that are no UTF-8 are refused', () => {
  const refusal = (...bytes: number[]): unknown => {
    try {
      return parseYamlText(Buffer.concat([Buffer.from('v: '), Buffer.from(bytes)]));
    } catch (error) {
      return error;
    }
  };
  expect(refusal(0xff, 0xfe)).toEqual(new SyntaxError('yaml: invalid leading UTF-8 octet'));
  expect(refusal(0xc3, 0x28)).toEqual(new SyntaxError('yaml: invalid trailing UTF-8 octet'));
  expect(refusal(0xe2, 0x82)).toEqual(new SyntaxError('yaml: incomplete UTF-8 octet sequence'));
});

test('keys become texts as Kubernetes writes them', () => {
  expect(read('{1: a, 1.5: b, yes: c, 0o17: d, 2001-01-01: e, 1:30: f, .inf: g, 1e400: h}')).toEqual({
    ...{ 1: 'a', 1.5: 'b', true: 'c', 15: 'd', '2001-01-01': 'e', '1:30': 'f', '.inf': 'g', '1e400': 'h' },
  });
});
