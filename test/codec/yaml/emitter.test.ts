import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject, JsonValue } from '../../../src/api/object-meta.ts';
import { toYaml, toYamlItem, yamlItemParts, yamlParts } from '../../../src/codec/yaml/emitter.ts';
import { parseYamlText } from '../../../src/codec/yaml-text.ts';
import { cases } from '../../kit/cases.ts';
import { expectWithin } from '../../kit/expect-within.ts';
import { threadMs } from '../../kit/thread-time.ts';

const LONG = `${'word '.repeat(30)}end`;

test('objects are written as Kubernetes writes them', () => {
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: 'web',
      labels: {},
      finalizers: [],
      annotations: {
        'a/b': 'true',
        n: '1',
        'key-10': 'x',
        'key-9': 'y',
        [`long.example.com/${'k'.repeat(128)}`]: 'v',
      },
      creationTimestamp: null,
    },
    spec: {
      containers: [
        { name: 'c', args: ['-v', '--', '- x', 'a: b', 'a #b', "it's", '#', '*', '', ' edge'], ready: false },
        [['nested', 1.5], 'x'],
        'last',
      ],
      time: '2024-01-02T03:04:05Z',
      ports: [80, -1, 0.25, 1e21, 1.5e-7, 123456789.5],
    },
  };
  expect(toYaml(object)).toBe(
    [
      'apiVersion: v1',
      'kind: Pod',
      'metadata:',
      '  annotations:',
      '    a/b: "true"',
      '    key-9: "y"',
      '    key-10: x',
      `    ? long.example.com/${'k'.repeat(128)}`,
      '    : v',
      '    "n": "1"',
      '  creationTimestamp: null',
      '  finalizers: []',
      '  labels: {}',
      '  name: web',
      'spec:',
      '  containers:',
      '  - args:',
      '    - -v',
      '    - --',
      "    - '- x'",
      "    - 'a: b'",
      "    - 'a #b'",
      "    - it's",
      "    - '#'",
      "    - '*'",
      '    - ""',
      "    - ' edge'",
      '    name: c',
      '    ready: false',
      '  - - - nested',
      '      - 1.5',
      '    - x',
      '  - last',
      '  ports:',
      '  - 80',
      '  - -1',
      '  - 0.25',
      '  - 1e+21',
      '  - 1.5e-07',
      '  - 1.234567895e+08',
      '  time: "2024-01-02T03:04:05Z"',
      '',
    ].join('\n'),
  );
});

test('texts of several lines are blocks, and what a block would lose is quoted', () => {
  const data = {
    block: 'a\n  b\n\nc\n',
    keep: 'a\n\n',
    strip: 'a\nb',
    indented: '  a\nb',
    trailing: 'a \nb',
    tab: 'a\tb\n',
    bell: '\u0007\u0085\u{1F600}\u2028é',
  };
  expect(toYaml(data)).toBe(
    [
      'bell: "\\a\\N\\U0001F600\\Lé"',
      'block: |',
      '  a',
      '    b',
      '',
      '  c',
      'indented: |2-',
      '    a',
      '  b',
      'keep: |+',
      '  a',
      '',
      'strip: |-',
      '  a',
      '  b',
      'tab: "a\\tb\\n"',
      'trailing: "a \\nb"',
      '',
    ].join('\n'),
  );
});

test('long lines continue on the next, at the first space behind the 80th character', () => {
  expect(toYaml({ a: { text: LONG } })).toBe(
    ['a:', `  text: ${'word '.repeat(15).trim()}`, `    ${'word '.repeat(15)}end`, ''].join('\n'),
  );
});

test('items of a list stand where the list has them', () => {
  expect(`items:\n${toYamlItem({ b: [1], a: { c: 'x' } })}`).toBe(
    toYaml({ items: [{ b: [1], a: { c: 'x' } }] }),
  );
});

/** Letters that mean something to YAML more often than others. */
const ALPHABET = [
  ...' \n\t:#-?,[]{}&*!|>\'"%@`.=~<_+0123456789eExXoTZynNabc/\\\r',
  '\u0000',
  '\u007f',
  '\u0085',
  'é',
  '\u2028',
  '\ufeff',
  '\u{1F600}',
];
const PARTS = [
  '---',
  '...',
  ': ',
  ' #',
  '- ',
  '? ',
  'null',
  'yes',
  'on',
  '0x1F',
  '0o7',
  '1_000',
  '1e3',
  '12:30',
  '2024-01-02',
  '<<',
  '  ',
  '\n\n',
  'word word '.repeat(12),
  'k'.repeat(130),
];

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function randomText(random: (below: number) => number): string {
  const length = random(12);
  const pieces = Array.from({ length }, () =>
    random(4) === 0 ? PARTS[random(PARTS.length)] : ALPHABET[random(ALPHABET.length)],
  );
  return pieces.join('');
}

function randomValue(random: (below: number) => number, depth: number): JsonValue {
  switch (random(depth > 3 ? 6 : 8)) {
    case 0:
      return null;
    case 1:
      return random(2) === 0;
    case 2:
      return (random(2_000_001) - 1_000_000) / 10 ** random(9);
    case 3:
    case 4:
    case 5:
      return randomText(random);
    case 6:
      return Array.from({ length: random(4) }, () => randomValue(random, depth + 1));
    default: {
      const object: JsonObject = {};
      for (let left = random(5); left > 0; left -= 1)
        object[randomText(random)] = randomValue(random, depth + 1);
      return object;
    }
  }
}

test('every text that is written reads back the same, by the rules of YAML 1.2 and 1.1', () => {
  const random = createRandom(7);
  for (let round = 0; round < cases(4000); round += 1) {
    const value = { value: randomValue(random, 0) };
    const text = toYaml(value);
    expect(parse(text), text).toEqual(value);
    if (!isMisread(JSON.stringify(value)))
      expect(parseYamlText(Buffer.from(text)).value, text).toEqual(value);
  }
});

/** Without a digit in front there is no number, in no YAML, but for the library's version 1.1. */
const isMisread = (json: string): boolean => /"[-+]?\.?_*([eE][-+]?\d+)?"/.test(json);

/** The longest turn of the thread. */
function longestTurn(value: JsonValue): number {
  let longest = 0;
  let begun = threadMs();
  let sizeBytes = 0;
  for (const part of yamlParts(value)) {
    sizeBytes += part.length;
    if (part !== '' && sizeBytes < 64 * 1024) continue;
    longest = Math.max(longest, threadMs() - begun);
    sizeBytes = 0;
    begun = threadMs();
  }
  return Math.max(longest, threadMs() - begun);
}

const BOUND_MS = 100;

test('objects as large as they may be are written in parts that take no longer than others can wait', () => {
  const values: Record<string, JsonValue> = {
    keys: Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${(at * 7919) % 50_000}`, ''])),
    escaped: '\u007f'.repeat(1_500_000),
    tabs: '\t\u0001'.repeat(750_000),
    lines: ' x\n'.repeat(500_000),
    words: 'a '.repeat(750_000),
    numbers: Array.from({ length: 100_000 }, (_, at) => at),
    objects: Array.from({ length: 50_000 }, () => ({ a: 1 })),
    quotes: "' ".repeat(750_000),
  };
  for (const [name, value] of Object.entries(values)) {
    // The first run executes code that is not compiled yet.
    const runs = [longestTurn({ value })];
    while (runs.length < 3 && (runs.at(-1) ?? 0) >= BOUND_MS) runs.push(longestTurn({ value }));
    expectWithin(BOUND_MS, Math.min(...runs), name);
  }
});

test('in parts it is the same', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `key-${(at * 7919) % 10_000}`);
  const value = {
    wide: Object.fromEntries(names.map((name) => [name, [name, { inner: 1 }]])),
    list: [names, [], {}],
  };
  expect([...yamlParts(value)].join('')).toBe(toYaml(value));
  expect([...yamlItemParts(value)].join('')).toBe(toYamlItem(value));
  expect([...yamlItemParts({ a: 1 })].join('')).toBe(toYamlItem({ a: 1 }));
});
