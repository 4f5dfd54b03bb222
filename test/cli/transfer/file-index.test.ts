import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject, JsonValue } from '../../../src/api/object-meta.ts';
import { readDocument, toDocument } from '../../../src/cli/transfer/documents.ts';
import { indexFile, type Piece } from '../../../src/cli/transfer/file-index.ts';
import { PieceReader } from '../../../src/cli/transfer/piece-reader.ts';
import { isObject } from '../../../src/object/json-values.ts';
import { errorText } from '../../../src/util/error-text.ts';
import { cases } from '../../kit/cases.ts';

const folder = mkdtempSync(join(tmpdir(), 'pg-apiserver-file-index-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** More than is held of a file at a time. */
const WINDOW = 256 * 1024;

function writeFile(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** By places. Errors as texts. */
function readInPieces(path: string): (JsonObject | string)[] {
  const reader = new PieceReader();
  const found = [...indexFile(path)].flatMap((one): (JsonObject | string)[] => {
    if ('reason' in one) return [`${one.name}: ${one.reason}`];
    try {
      return [...reader.read(one)];
    } catch (error) {
      return [`document ${one.document.number}, item ${one.item}: ${errorText(error)}`];
    }
  });
  reader.close();
  return found;
}

/** Each document as one text. */
function readWhole(path: string): (JsonObject | string)[] {
  const text = readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  const documents = path.endsWith('.json') ? [text] : text.split(/^---(?:[ \t].*)?$/m);
  return documents.flatMap((document): (JsonObject | string)[] => {
    try {
      const read = readDocument(document);
      if (read.kind === 'list') return read.items.filter(isObject);
      return read.kind === 'object' ? [read.object] : [];
    } catch (error) {
      return [errorText(error)];
    }
  });
}

const piecesOf = (path: string): Piece[] =>
  [...indexFile(path)].filter((one): one is Piece => !('reason' in one));
const isCut = (path: string): boolean => piecesOf(path).every(({ value }) => value === undefined);

const HOSTILE = [
  ...[
    '---\n',
    'a\n---\nb: c\n',
    '- a\n- b\n',
    'kind: Pod\napiVersion: v1\n',
    'items:\n- a\n',
    '# no comment\n',
  ],
  ...[
    'ä€😀\n',
    '\ttab\n',
    'a: "b\n',
    '  indented\n',
    'x\n\n\n',
    '...\n',
    '*a &b !c',
    '{',
    '[',
    '"',
    "'",
    '\\',
    '',
  ],
];
const texts = fc.array(fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ maxLength: 8 })), { maxLength: 4 });
const text = texts.map((parts) => parts.join(''));
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  ...[text, fc.integer(), fc.boolean(), fc.constant(null)],
  ...[
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('items', 'kind', 'a b', '-', '#'), text),
  ],
);
const object: fc.Arbitrary<JsonObject> = fc
  .record({ kind: fc.constantFrom('Pod', 'ConfigMap', 'Thing'), name: text, data: value, spec: value })
  .map(({ kind, name, ...rest }) => ({ apiVersion: 'v1', kind, metadata: { name }, ...rest }));
const list = fc
  .record({
    items: fc.array(fc.oneof({ weight: 9, arbitrary: object }, value), { maxLength: 4 }),
    isLast: fc.boolean(),
  })
  .map(({ items, isLast }) =>
    isLast
      ? { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items }
      : { apiVersion: 'v1', items, kind: 'PodList', metadata: { resourceVersion: '' } },
  );

const STYLES = [
  { indentSeq: false },
  { indentSeq: true },
  { indent: 4 },
  { defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
  { collectionStyle: 'flow' },
  { lineWidth: 20 },
] as const;
const document = fc.oneof(
  fc.tuple(fc.oneof(object, list), fc.constantFrom(...STYLES)).map(([one, style]) => stringify(one, style)),
  fc
    .tuple(fc.oneof(object, list), fc.constantFrom(0, 1, 4))
    .map(([one, indent]) => JSON.stringify(one, null, indent)),
  // The first separator is that of the file.
  object.map((one) => toDocument(one).slice('---\n'.length)),
  fc.constantFrom(
    '',
    '# nothing\n',
    'null\n',
    'kind: List\nitems: []\n',
    'a: b: c\n',
    '{"kind":"Pod",}',
    '- 1\n',
  ),
);

/** Comments and empty lines at the begin of items, and line ends of Windows. */
const disturb = (one: string, how: string): string =>
  how === 'comments'
    ? one.replaceAll(/^( *)- (?=apiVersion)/gm, '# between\n\n$1- ')
    : how === 'windows'
      ? one.replaceAll('\n', '\r\n')
      : one;

test('objects at their places are those of whole documents, in every style, and at the ends of what is read at once', {
  tags: 'long',
}, () => {
  const some = fc.array(fc.tuple(document, fc.constantFrom('plain', 'comments', 'windows')), {
    maxLength: 4,
  });
  let cut = 0;
  fc.assert(
    fc.property(some, fc.integer({ min: 0, max: 400 }), fc.boolean(), (documents, before, hasMark) => {
      const joined = documents.map(([one, how]) => disturb(one, how)).join('\n---\n');
      const padding = `# ${'x'.repeat(WINDOW - 7 - before)}\n---\n`;
      const path = writeFile('random.yaml', `${hasMark ? '\ufeff' : ''}${padding}${joined}`);
      const isError = (one: unknown): boolean => typeof one === 'string';
      const [pieces, whole] = [readInPieces(path), readWhole(path)];
      expect(pieces.filter((one) => !isError(one))).toEqual(whole.filter((one) => !isError(one)));
      expect(pieces.filter(isError)).toHaveLength(whole.filter(isError).length);
      if (isCut(path)) cut += 1;
    }),
    { numRuns: cases(150) },
  );
  expect(cut).toBeGreaterThan(20);
});

const ITEM = 'apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: ';

test.each([
  ['without indent', `apiVersion: v1\nitems:\n- ${ITEM}a\n- ${ITEM}b\nkind: List\n`, 2],
  [
    'with indent, after the kind',
    'kind: List\napiVersion: v1\nitems:\n    - kind: Pod\n      apiVersion: v1\n    - kind: Pod\n      apiVersion: v1\n',
    2,
  ],
  ['without a line end', `apiVersion: v1\nkind: List\nitems:\n- ${ITEM}a`, 1],
  [
    'with line ends of Windows',
    `apiVersion: v1\nitems:\n- ${ITEM}a\n- ${ITEM}b\nkind: List\n`.replaceAll('\n', '\r\n'),
    2,
  ],
  [
    'with comments and empty lines',
    `# top\napiVersion: v1\nitems: # these\n# one\n\n- ${ITEM}a\n# two\n\n- ${ITEM}b\n   # three\nkind: List\n`,
    2,
  ],
  [
    'with a text of lines at its end',
    `apiVersion: v1\nitems:\n- ${ITEM}a\n  text: |+\n    x\n\n\n- ${ITEM}b\n  text: |\n    - y\n    ---\nkind: List\n`,
    2,
  ],
  [
    'with lists that begin in the column of their keys',
    `apiVersion: v1\nitems:\n- ${ITEM}a\n  list:\n  - x\n  - items:\n    - y\nkind: List\nother:\n- z\n`,
    1,
  ],
  [
    'with a List in it',
    `apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - ${ITEM}a\nkind: List\n`,
    1,
  ],
])('a List %s is cut', (_, yaml, count) => {
  const path = writeFile('cut.yaml', yaml);
  expect(readInPieces(path)).toEqual(readWhole(path));
  expect(isCut(path)).toBe(true);
  expect(piecesOf(path).map(({ item }) => item)).toEqual(Array.from({ length: count }, (__, at) => at + 1));
});

test.each([
  ['flow.yaml', 'apiVersion: v1\nkind: List\nitems: [{kind: Pod, apiVersion: v1}]\n'],
  ['twice.yaml', 'apiVersion: v1\nkind: List\nitems:\n- kind: Pod\nitems:\n- kind: Job\n'],
  ['tab.yaml', 'apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n\t- kind: Job\n'],
  ['ragged.yaml', 'apiVersion: v1\nkind: List\nitems:\n    - kind: Pod\n  - kind: Job\n'],
  ['numbers.yaml', 'apiVersion: v1\nkind: List\nitems:\n- 1\n- null\n-\n- kind: Pod\n  apiVersion: v1\n'],
  ['empty.yaml', 'apiVersion: v1\nkind: List\nitems:\nmetadata: {}\n'],
  ['braces.yaml', '# flow\n{\nkind: List\n,\napiVersion: v1,\nitems:\n- a\n}\n'],
  ['no-list.yaml', 'apiVersion: v1\nkind: Recipe\nitems:\n- a\n- b\n'],
  ['end.yaml', 'apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n...\n'],
  [
    'twice.json',
    '{"kind":"List","apiVersion":"v1","items":[{"kind":"Pod"}],"items":[{"kind":"Job","apiVersion":"v1"}]}',
  ],
  ['escaped.json', '{"kind":"List","apiVersion":"v1","\\u0069tems":[{"kind":"Pod"}]}'],
  [
    'inner.json',
    '{"kind":"List","apiVersion":"v1","items":[{"k\\u0069nd":"Pod"},1,null,"x",[],{"kind":"Job","items":[{}]}]}',
  ],
  ['comma.json', '{"kind":"List","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1"},]}'],
  ['nothing.yaml', ''],
  ['nothing.json', ''],
  ['line.yaml', '\n'],
  ['dash.yaml', '---'],
  ['two.json', '{"kind":"Pod","apiVersion":"v1"}\n{"kind":"Pod","apiVersion":"v1"}'],
  ['open.json', '{"kind":"List","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1"}'],
  [
    'pretty.json',
    JSON.stringify(
      { kind: 'List', items: [{ kind: 'Pod', apiVersion: 'v1', s: 'a]}",\\' }], n: 1e3 },
      null,
      4,
    ),
  ],
  ['long.json', '{"kind":"List","items":[{"kind":"Pod","apiVersion":"v1","n":12345678901234567890}]}'],
])('%s gives what its whole gives', (name, content) => {
  const path = writeFile(name, content);
  const [pieces, whole] = [readInPieces(path), readWhole(path)];
  expect(pieces.map((one) => (typeof one === 'string' ? 'error' : one))).toEqual(
    whole.map((one) => (typeof one === 'string' ? 'error' : one)),
  );
});

test('an item that refers to another one gets what that has', () => {
  const path = writeFile(
    'anchors.yaml',
    'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  spec: &same\n    a: b\n- apiVersion: v1\n  kind: Job\n  spec: *same\n',
  );
  expect(readInPieces(path)).toEqual(readWhole(path));
  expect(readInPieces(path)).toHaveLength(2);
});

test('a mistake is named by its document and item, and by its line in the document, and spoils no other', () => {
  const item = (name: string): string => `- ${ITEM}${name}\n`;
  const path = writeFile(
    'mistakes.yaml',
    `${toDocument({ apiVersion: 'v1', kind: 'Pod' })}---\napiVersion: v1\nitems:\n${item('a')}${item('b: c')}${item('d')}kind: List\n`,
  );
  const found = readInPieces(path);
  expect(found.filter((one) => typeof one !== 'string')).toHaveLength(3);
  expect(found.filter((one) => typeof one === 'string')).toEqual([
    'document 3, item 2: yaml: line 10: mapping values are not allowed in this context',
  ]);
  expect(readWhole(path).filter((one) => typeof one === 'string')).toEqual([
    'yaml: line 10: mapping values are not allowed in this context',
  ]);
  const json = writeFile(
    'mistakes.json',
    '{"kind":"List","items":[{"kind":"Pod","apiVersion":"v1"},{"kind":nil}]}',
  );
  expect(readInPieces(json)).toEqual([
    { kind: 'Pod', apiVersion: 'v1' },
    expect.stringMatching(/mistakes\.json, document 1, item 2: Unexpected token/),
  ]);
});

test('the lines of many mistakes are found in the time of their items, not of what comes before them', () => {
  const item = `- apiVersion: v1\n  kind: ConfigMap\n  data:\n    k: "x\n${'    b: c\n'.repeat(20)}`;
  const path = writeFile('many-mistakes.yaml', `apiVersion: v1\nkind: List\nitems:\n${item.repeat(3000)}`);
  const found = readInPieces(path);
  expect(found).toHaveLength(3000);
  expect(found[1]).toBe('document 1, item 2: yaml: line 52: found unexpected end of stream');
  expect(found.at(-1)).toBe('document 1, item 3000: yaml: line 72004: found unexpected end of stream');
});

test('a separator may stand before an object in its line', () => {
  const path = writeFile(
    'line.yaml',
    '--- # first\nkind: Pod\napiVersion: v1\n--- {"kind":"Job","apiVersion":"v1"}\n',
  );
  expect(readInPieces(path)).toEqual([
    { kind: 'Pod', apiVersion: 'v1' },
    { kind: 'Job', apiVersion: 'v1' },
  ]);
});

const configMap: JsonObject = {
  ...{ kind: 'ConfigMap', apiVersion: 'v1' },
  metadata: { name: 'c1', namespace: 'default', uid: 'u-1', creationTimestamp: '2020-01-01T00:00:00Z' },
};

test('a document of an export comes back whole, and shows kubectl nothing that it would refuse', () => {
  const managedFields = [{ manager: 'kubectl', operation: 'Update' }];
  const object: JsonObject = { ...configMap, data: { text: '---\nuid: x\n', flag: 'yes' } };
  const metadata = { ...(object.metadata as JsonObject), managedFields };
  const text = toDocument({ ...object, metadata: { ...metadata, resourceVersion: '7' } });
  expect(readInPieces(writeFile('all.yaml', text + text))).toEqual([
    { ...object, metadata },
    { ...object, metadata },
  ]);
  const shown = text.split('\n').filter((line) => !line.startsWith('#'));
  expect(shown.join('\n')).not.toMatch(/^ {2}(uid|creationTimestamp|managedFields|resourceVersion):/m);
});

test('line ends at the end of a document are part of its last text', () => {
  const object: JsonObject = { ...configMap, text: 'a\n\n\n' };
  expect(readInPieces(writeFile('lines.yaml', toDocument(object).repeat(2)))).toEqual([object, object]);
});
