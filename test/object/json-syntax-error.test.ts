import { expect, test } from 'vitest';
import { jsonSyntaxError } from '../../src/object/json-syntax-error.ts';
import { cases } from '../kit/cases.ts';

test.each([
  ['', 'unexpected end of JSON input'],
  [' \n\t', 'unexpected end of JSON input'],
  ['a', "invalid character 'a' looking for beginning of value"],
  ["'", String.raw`invalid character '\'' looking for beginning of value`],
  ['\\', String.raw`invalid character '\\' looking for beginning of value`],
  ['\u0001', String.raw`invalid character '\x01' looking for beginning of value`],
  ['ä', "invalid character 'Ã' looking for beginning of value"],
  ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
  ['\u00a0', "invalid character 'Â' looking for beginning of value"],
  ['{', 'unexpected end of JSON input'],
  ['{"a"', 'unexpected end of JSON input'],
  ['{"a":', 'unexpected end of JSON input'],
  ['{"a":1', 'unexpected end of JSON input'],
  ['{"a":1,', 'unexpected end of JSON input'],
  ['["a"', 'unexpected end of JSON input'],
  ['"a', 'unexpected end of JSON input'],
  ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
  ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
  ['{"a" 1}', "invalid character '1' after object key"],
  ['{"a":1 "b"}', `invalid character '"' after object key:value pair`],
  ['[1 2]', "invalid character '2' after array element"],
  ['[1,]', "invalid character ']' looking for beginning of value"],
  ['[1}', "invalid character '}' after array element"],
  ['{"a":[1,2]]', "invalid character ']' after object key:value pair"],
  ['{} x', "invalid character 'x' after top-level value"],
  ['1.0.0', "invalid character '.' after top-level value"],
  ['01', "invalid character '1' after top-level value"],
  ['"a\nb"', String.raw`invalid character '\n' in string literal`],
  [String.raw`"\x"`, "invalid character 'x' in string escape code"],
  ['"\\', "invalid character ' ' in string escape code"],
  [String.raw`"\u12g4"`, String.raw`invalid character 'g' in \u hexadecimal character escape`],
  ['-', "invalid character ' ' in numeric literal"],
  ['-a', "invalid character 'a' in numeric literal"],
  ['1.', "invalid character ' ' after decimal point in numeric literal"],
  ['1.x', "invalid character 'x' after decimal point in numeric literal"],
  ['1e', "invalid character ' ' in exponent of numeric literal"],
  ['[1e+]', "invalid character ']' in exponent of numeric literal"],
  ['trux', "invalid character 'x' in literal true (expecting 'e')"],
  ['nul', "invalid character ' ' in literal null (expecting 'l')"],
  ['faLse', "invalid character 'L' in literal false (expecting 'l')"],
  ['['.repeat(10_001), 'exceeded max depth'],
])('%j is refused in the words of Go', (text, error) => {
  expect(jsonSyntaxError(text)).toBe(error);
});

test('exactly what the engine refuses is refused', () => {
  const pieces = [
    ...'{}[]",:-+.0123eEtfnul \\u\n',
    'true',
    'false',
    'null',
    '"a"',
    '"a":',
    '\\"',
    '\\u00e4',
    'ä',
  ];
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >>> 8) % below;
  };
  const texts = Array.from({ length: cases(100_000) }, () =>
    Array.from({ length: 1 + random(8) }, () => pieces[random(pieces.length)]).join(''),
  );
  const good = new Set(texts.filter(canBeParsed));
  expect(texts.filter((text) => (jsonSyntaxError(text) === undefined) !== good.has(text))).toEqual([]);
  expect(texts.filter((text) => good.has(text)).length).toBeGreaterThan(cases(500));
});

function canBeParsed(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
