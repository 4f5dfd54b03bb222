import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { encodeMessage } from '../../src/codec/protobuf/encoder.ts';
import {
  copyStored,
  cutSets,
  findMetadataEnd,
  parseStored,
  parseStoredMetadata,
  toStoredJson,
} from '../../src/codec/stored-object.ts';
import { cases } from '../kit/cases.ts';

const SET = { 'f:spec': { '.': {}, 'k:{"name":"web"}': { 'f:image': {} } } };

const pod = (fieldsV1: ApiObject | object = SET, manager = 'web'): ApiObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: 'web',
    managedFields: [
      { manager, operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { ...fieldsV1 } },
      { manager, operation: 'Apply', fieldsV1: { 'f:status': {} }, subresource: 'status' },
    ],
  },
  spec: { nodeName: 'a' },
});

const plain = (object: unknown): Buffer => Buffer.from(JSON.stringify(object));
const ownedBy = ({ metadata }: ApiObject): unknown => metadata.managedFields?.[0]?.fieldsV1;

test('objects with the same sets share them, and the sets cannot be changed', () => {
  const [one, other] = [parseStored(plain(pod())), parseStored(plain({ ...pod(), spec: { nodeName: 'b' } }))];
  expect(ownedBy(one)).toStrictEqual(SET);
  expect(ownedBy(one)).toBe(ownedBy(other));
  expect(() => Object.assign(ownedBy(one) as object, { 'f:status': {} })).toThrow(TypeError);
});

test('sets are shared where a field follows them, and by metadata that is read alone', () => {
  const uid = '0d4c1e9e-7f5d-4cf4-9b0e-0f3d8d6a8a11';
  const late = pod();
  late.metadata.uid = uid;
  const json = plain(late);
  const [whole, metadata] = [parseStored(json), parseStoredMetadata(json, findMetadataEnd(json), '')];
  expect(whole).toStrictEqual(late);
  expect(metadata).toStrictEqual(late.metadata);
  expect(ownedBy(whole)).toBe(ownedBy(parseStored(plain(pod()))));
  expect(metadata.managedFields?.[0]?.fieldsV1).toBe(ownedBy(whole));
});

test('protobuf has the known text of a set', () => {
  const schema = loadTypes().message('core/v1.Pod');
  const json = plain(pod());
  const parsed = parseStored(json);
  expect(encodeMessage(parsed, schema)).toStrictEqual(encodeMessage(JSON.parse(json.toString()), schema));
});

test('a copy shares the sets of a stored object and nothing else', () => {
  const stored = parseStored(plain(pod()), '7');
  const copy = copyStored(stored);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(stored));
  expect(ownedBy(copy)).toBe(ownedBy(stored));
  expect(copy.metadata.managedFields?.[0]).not.toBe(stored.metadata.managedFields?.[0]);
  expect(copy.spec).not.toBe(stored.spec);
});

let seed = 5;
const below = (most: number): number => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 4_294_967_296;
  return Math.floor((seed / 4_294_967_296) * most);
};

/**
 * Texts that stand around and in sets, so that what is made up of them looks like one where none is. No backslashes:
 * JSON.parse of V8 13.6 takes some keys that end with them for one another.
 */
const PIECES = [
  'managedFields":[{',
  '}]},"',
  '}],"',
  '}]}',
  '},{"manager":',
  '"fieldsV1":',
  ',"subresource":',
  '-0',
  '{',
  '}',
  '"',
  '\\',
  'é',
  '漢',
];
const trickyText = (): string =>
  Array.from({ length: below(4) }, () => PIECES[below(PIECES.length)]).join('');
const list = <Item>(most: number, make: () => Item): Item[] => Array.from({ length: below(most + 1) }, make);
const element = (): string => `${['f:', 'k:', 'v:'][below(3)]}${trickyText()}`;

const randomSet = (depth = 0): JsonObject =>
  Object.fromEntries(list(3 - depth, () => [element(), randomSet(depth + 1)]));

const randomEntry = (): JsonObject => ({
  manager: trickyText(),
  ...(below(3) === 0 ? {} : { time: trickyText(), fieldsType: 'FieldsV1' }),
  ...(below(8) === 0 ? {} : { fieldsV1: below(8) === 0 ? [null, 1, 'x'][below(3)] : randomSet() }),
  ...(below(2) === 0 ? {} : { subresource: trickyText() }),
});

const randomObject = (): JsonObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {
    name: trickyText(),
    labels: { [trickyText()]: trickyText() },
    ...(below(3) === 0 ? {} : { managedFields: list(3, randomEntry) }),
    ...(below(2) === 0 ? {} : { uid: trickyText() }),
  },
  ...(below(2) === 0 ? {} : { spec: { managedFields: list(2, randomEntry), text: trickyText() } }),
  ...(below(2) === 0 ? {} : { status: { fieldsV1: randomSet(), numbers: [1, 0.5, -1] } }),
});

test('an object with odd names and sets is read as JSON says, and written as it was', () => {
  let shared = 0;
  for (let round = 0; round < cases(5000); round += 1) {
    const json = plain(randomObject());
    const read = parseStored(json);
    expect(JSON.stringify(read)).toBe(json.toString());
    expect(toStoredJson(read).toString()).toBe(json.toString());
    expect(toStoredJson(copyStored(read)).toString()).toBe(json.toString());
    expect(JSON.stringify(parseStoredMetadata(json, findMetadataEnd(json), ''))).toBe(
      JSON.stringify(read.metadata),
    );
    if (cutSets(json.toString()) !== undefined) shared += 1;
  }
  expect(shared).toBeGreaterThan(cases(300));
});

test('an unusual form is parsed as a whole', () => {
  expect(cutSets(JSON.stringify(pod()))?.sets).toHaveLength(2);
  for (const manager of ['}]},', '"fieldsV1":', '},{"manager":']) {
    const json = plain(pod({ [`f:${manager}`]: {} }, manager));
    expect(parseStored(json)).toStrictEqual(JSON.parse(json.toString()));
  }
  const nobody =
    '{"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[{"fieldsV1":null}]},"spec":{}}';
  expect(toStoredJson(parseStored(Buffer.from(nobody))).toString()).toBe(nobody);
});
