import { expect, test } from 'vitest';
import {
  parseAsWritten,
  parseExactly,
  parseJson,
  parseJsonBytes,
  parsePlainly,
} from '../../src/object/exact-json.ts';

/** Pairs of a key that the engine comes to expect and one that it takes for it; each pair behind a first key of its own. */
const TWINS: readonly (readonly [string, string])[] = [
  ['k1\\\\', 'k1\\{'],
  ['\\\\', '\\a'],
  ['\\"', '"a'],
  ['a\\n\\', 'a\n\\x'],
];

const readers = {
  parsePlainly,
  parseExactly,
  parseJson,
  parseAsWritten,
  parseJsonBytes: (text: string) => parseJsonBytes(Buffer.from(text)),
};

test.each(Object.entries(readers))(
  '%s: keys with escapes stay the same, after keys of the same text',
  (name, read) => {
    for (const [at, [expected, key]] of TWINS.entries()) {
      const first = `${name}${at}`;
      const before = JSON.stringify({ [first]: 1, [expected]: {} });
      const text = JSON.stringify({ [first]: 1, [key]: {} });
      JSON.parse(before);
      expect(JSON.stringify(read(text))).toBe(text);
      expect(JSON.stringify(read(before))).toBe(before);
    }
  },
);

/** Every key of up to three of these characters that has an escape when it is written. */
const CHARACTERS = ['"', '\\', '\n', '\u0001', '/', 'n', 'u'];
const KEYS = CHARACTERS.flatMap((one) => [
  one,
  ...CHARACTERS.flatMap((two) => [one + two, ...CHARACTERS.map((three) => one + two + three)]),
]);
const ESCAPED_KEYS = KEYS.filter((key) => JSON.stringify(key).includes('\\'));

test('a key with an escape is not read as the beginning of what stands in the text', () => {
  for (const [at, key] of ESCAPED_KEYS.entries()) {
    const written = JSON.stringify(key);
    // The engine compares as many characters of the text as the key has.
    const expected = written.slice(1, 1 + key.length);
    const first = `twin${at}`;
    JSON.parse(JSON.stringify([{ [first]: 1, [expected]: 1 }, { [expected]: 1 }]));
    const value = [{ [first]: 1, [key]: 1 }, { [key]: 1 }];
    expect(parsePlainly(JSON.stringify(value)), written).toEqual(value);
  }
});

test('fields keep their order and their last value, in objects within lists, and under names of JavaScript’s own', () => {
  const text = '[{"b\\\\":1,"a":{"__proto__":{"\\\\":1}},"b\\u005c":2,"\\u0061":3," \\n" : 4}]';
  expect(JSON.stringify(parsePlainly(text))).toBe('[{"b\\\\":2,"a":3," \\n":4}]');
  const proto = '{"__proto__":{"\\\\":1},"\\\\\\\\":[]}';
  expect(JSON.stringify(parsePlainly(proto))).toBe(proto);
});

test('a key with a backslash may be anything but a name that this server made up', () => {
  const keys = Array.from({ length: 300 }, (_, at) => `\\${at}"`);
  const object = Object.fromEntries(keys.map((key, at) => [key, at]));
  expect(parsePlainly(JSON.stringify(object))).toEqual(object);
});
