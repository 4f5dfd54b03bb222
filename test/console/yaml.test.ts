import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../src/console/model/api-object.ts';
import { lineText, toLines, toYaml } from '../../src/console/model/yaml.ts';
import { cases } from '../kit/cases.ts';

/** Both editions, because readers of either paste what they copied here. */
const EDITIONS = ['1.1', '1.2'] as const;

const read = (text: string, version: (typeof EDITIONS)[number]): unknown =>
  parse(text, { version, strict: false });

test('the YAML on the page says what the object says, for every value', () => {
  const strings = fc.oneof(
    fc.string({ unit: 'grapheme-composite' }),
    fc.string({
      unit: fc.constantFrom(
        ' ',
        '\n',
        '\t',
        ':',
        '#',
        '-',
        '"',
        "'",
        'a',
        '\u202e',
        '{',
        '0',
        '\r',
        '|',
        '&',
        '~',
      ),
    }),
    fc.constantFrom(
      'true',
      'yes',
      'NO',
      'null',
      '~',
      '1e3',
      '0x1f',
      '0o7',
      '1_000',
      '12:30',
      '2026-01-31',
      '.5',
      '-',
      '---',
      '=',
      '<<',
      'y',
    ),
  );
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      ...[strings, fc.integer(), fc.boolean(), fc.constant(null)],
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(strings, tie('value'), { maxKeys: 4 }).map((object) => ({ ...object })),
    ),
  }));
  for (const version of EDITIONS)
    fc.assert(
      fc.property(value, (object) => {
        expect(read(toYaml(object), version)).toEqual(object);
      }),
      { seed: 17, numRuns: cases(400) },
    );
});

test('nothing that turns text around, or hides, is in a line', () => {
  const lines = toLines({ a: 'x\u202ey', 'b\u2066': 'two\nlines\u200b', c: '\u{e0041}' }).map(lineText);
  expect(lines).toEqual(['a: "x\\u202ey"', '"b\\u2066": "two\\nlines\\u200b"', 'c: "\\U000e0041"']);
});

test('an object looks as people write it', () => {
  const object = {
    kind: 'Pod',
    metadata: { name: 'web', labels: {}, annotations: { 'a/b': 'true' } },
    spec: { containers: [{ name: 'web', args: ['-v', 'x: y'], ports: [{ port: 80 }] }], text: 'one\ntwo\n' },
  };
  expect(toYaml(object)).toBe(`kind: Pod
metadata:
  name: web
  labels: {}
  annotations:
    a/b: "true"
spec:
  containers:
  - name: web
    args:
    - "-v"
    - "x: y"
    ports:
    - port: 80
  text: |
    one
    two
`);
});

test('each line knows which field it shows', () => {
  const object = { spec: { ports: [{ port: 80, 'a/b': [1] }], text: 'x\ny' } };
  expect(toLines(object, () => '[port=80]').map(({ path }) => path)).toEqual([
    ...[undefined, undefined, 'spec.ports[port=80].port', undefined, 'spec.ports[port=80]["a/b"]'],
    ...['spec.text', 'spec.text', 'spec.text'],
  ]);
});
