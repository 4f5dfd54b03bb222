import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/api/object-meta.ts';
import { readBlockYaml } from '../../../src/codec/yaml/block-reader.ts';
import { toYaml } from '../../../src/codec/yaml/emitter.ts';
import { plainValue } from '../../../src/codec/yaml/plain-value.ts';
import { parseYamlFile, parseYamlText } from '../../../src/codec/yaml-text.ts';
import { cases } from '../../kit/cases.ts';
import { cpuMsOf } from '../../kit/cpu-time.ts';
import { threadMs } from '../../kit/thread-time.ts';

const REFUSED = 'refused';
/** As text, so that the order of keys counts. */
function byLibrary(text: string): string {
  try {
    return JSON.stringify(parseYamlText(Buffer.from(text)).value);
  } catch {
    return REFUSED;
  }
}

const PIECES = [
  ...[
    'a',
    'word ',
    'b: c',
    ' #',
    "'",
    '"',
    '\\',
    '\n',
    '\n\n',
    ' ',
    '  ',
    '-',
    '- ',
    '1',
    '0.5',
    'true',
    'null',
  ],
  ...[
    '~',
    ':',
    '{}',
    '[x]',
    '&',
    '*',
    '!',
    '|',
    '>',
    '%',
    '@',
    'é',
    '\u00a0',
    '\u{1f600}',
    '\t',
    '\x07',
    'y',
  ],
  ...[
    '2026-01-02',
    '1e3',
    '0x1f',
    'e5',
    '+',
    '12:30',
    '1_0',
    '017',
    '.',
    '/',
    'sha256:0',
    '10.1.2.3',
    '5d4f',
  ],
  ...[
    '.5',
    'f:x',
    '...',
    '---',
    '<<',
    '?',
    ',',
    'text that goes on and on, up to the edge of the line and past it ',
  ],
];
const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join(''));
const { value: values } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    texts,
    fc.constantFrom(true, false, null),
    fc.integer(),
    fc.integer({ min: -9999, max: 9999 }).map((number) => number / 100),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(texts, tie('value'), { maxKeys: 3 }),
  ),
}));

const MISTAKES = [
  ...[
    '\n',
    ' ',
    '  ',
    ':',
    ': ',
    '- ',
    '#',
    ' #',
    '"',
    "'",
    '|',
    '>',
    '\n\n',
    '\n ',
    '\n  ',
    '- - ',
    '{}',
    '[',
  ],
  ...[
    '\\',
    '?',
    '---',
    '|2\n',
    '|+\n',
    '&a ',
    '*a',
    '1',
    '0',
    'e',
    '.',
    '_',
    ': |\n',
    ': >-\n',
    ':\n',
    '\n# c\n',
  ],
  ...[' # c\n', "''", '\\\n', ', ', '}', ''],
];
const edits = fc.array(
  fc.record({ at: fc.nat(), removed: fc.integer({ min: 0, max: 3 }), added: fc.constantFrom(...MISTAKES) }),
  { maxLength: 2 },
);

test('the reader of blocks reads what the library reads, or leaves it alone', () => {
  let [taken, given] = [0, 0];
  fc.assert(
    fc.property(fc.dictionary(texts, values, { minKeys: 1, maxKeys: 4 }), edits, (value, changes) => {
      let text = toYaml(value as JsonValue);
      for (const { at, removed, added } of changes) {
        const from = at % text.length;
        text = text.slice(0, from) + added + text.slice(from + removed);
      }
      const read = readBlockYaml(text);
      if (changes.length === 0) given += 1;
      if (changes.length === 0 && read !== undefined) taken += 1;
      if (read !== undefined) expect(JSON.stringify(read)).toBe(byLibrary(text));
      // A file with the line ends of Windows has the same values.
      if (read !== undefined) expect(byLibrary(text.replaceAll('\n', '\r\n'))).toBe(JSON.stringify(read));
    }),
    { numRuns: cases(3000) },
  );
  expect(taken / given).toBeGreaterThan(0.4);
});

const OF_KUBECTL = [
  'apiVersion: v1',
  'items:',
  '- apiVersion: v1',
  '  data:',
  '    block: |',
  '      color=blue',
  '',
  '      # no comment',
  '    end: |-',
  '      a: b',
  '    kept: |+',
  '      a',
  '',
  '    indented: |2',
  '        a',
  '    escaped: "\\U0001F600\\t\\x07 \\"x\\" and more words than the eighty characters that fit',
  '      on one line"',
  "    single: 'it''s: a text of more words than the eighty characters that fit on one",
  "      line'",
  '    plain: more words than the eighty characters that a line has, and no sign that would',
  '      end it',
  '    empty: ""',
  '  kind: ConfigMap',
  '  metadata:',
  '    creationTimestamp: "2026-11-26T10:11:12Z"',
  '    managedFields:',
  '    - fieldsV1:',
  '        f:data:',
  '          .: {}',
  '          k:{"name":"web"}: {}',
  '    ownerReferences: []',
  '- - 1',
  '  - - -2.5',
  '- null',
  '# a comment',
  '',
  'kind: List',
  '',
].join('\n');

test('it reads what kubectl writes', () => {
  const read = readBlockYaml(OF_KUBECTL);
  expect(read).toBeDefined();
  expect(JSON.stringify(read)).toBe(byLibrary(OF_KUBECTL));
});

test.each([
  ...[
    'a: {b: 1}',
    'a: &x 1',
    'a: !!str 1',
    'a: >\n  b\n',
    'a: 1\na: 2',
    '? a\n: b',
    'a: b # c',
    'a:\tb',
    'a',
  ],
  ...[
    'a: |\n  b',
    'a: .inf',
    'yes: a',
    '0x1f: a',
    '__proto__: 1',
    '<<: {}',
    'a: b: c',
    '- a\nb: c',
    'a: "b"\n  c: 1',
    '- "a"\n  - b',
    'a: "b\\\n  c"',
    'a: "b\nc"',
    'a: "b\n\n  c"',
    'a: "b',
    'a: "b" c',
  ],
])('it leaves %j to the library', (text) => expect(readBlockYaml(text)).toBeUndefined());

test.each([
  '.',
  'e5',
  '-.',
  'E10',
  '2026-01-02',
  '12:30',
  '5d4f8c7b9',
  '10.1.2.3',
  'web:1.2',
  '-v',
  '100m',
  'f:x',
  'yes-no',
])('%s is a text, as a value and as a key', (text) => {
  expect(plainValue(text)).toBe(text);
  expect(parseYamlText(Buffer.from(`a: ${text}\n${text}: 1\n`)).value).toEqual({ a: text, [text]: 1 });
});

const timed = (work: () => unknown): number => {
  const begun = threadMs();
  expect(work()).toBeDefined();
  return threadMs() - begun;
};

test.each([
  ['without quotes', 'a: b\n', ''],
  ['in quotes', 'a: "b\n', '  d"\n'],
])('a text %s of very many lines takes time in proportion to them', (_, begin, end) => {
  const lines = '  c\n'.repeat(60_000);
  const block = timed(() => readBlockYaml(`a: |\n${lines}`));
  expect(timed(() => readBlockYaml(begin + lines + end))).toBeLessThan(50 + 20 * block);
});

test('a file of blocks takes less than a third of the time that the library takes', () => {
  const text = OF_KUBECTL.replace(/(?<=^items:\n).*(?=^# a comment)/ms, (items) => items.repeat(100));
  const library = timed(() => parseYamlText(Buffer.from(text)));
  expect(timed(() => parseYamlFile(text))).toBeLessThan(library / 3);
});

test('a file with the line ends of Windows is read as fast as another one', () => {
  const text = toYaml(Array.from({ length: 2000 }, (_, at) => ({ name: `n${at}`, note: 'a\nb\n' })));
  const windows = text.replaceAll('\n', '\r\n');
  const readMs = (file: string): number => cpuMsOf(() => parseYamlFile(file));
  expect(parseYamlFile(windows)).toEqual(parseYamlFile(text));
  // The library takes eleven times as long.
  expect(readMs(windows)).toBeLessThan(Math.max(readMs(text), 5) * 5);
});
