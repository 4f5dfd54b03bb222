import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { ApiObject, JsonObject, ManagedFieldsEntry } from '../../src/api/object-meta.ts';
import type { MessageSchema } from '../../src/api/schema.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { parseStored, toStoredJson } from '../../src/codec/stored-object.ts';
import { setOf } from '../../src/object/managed-fields/field-set.ts';
import { knownTextOf } from '../../src/object/managed-fields/owners.ts';
import { shapeOfMessage } from '../../src/object/managed-fields/shape.ts';
import { trackUpdate } from '../../src/object/managed-fields/track.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';
import { RandomObjects } from './random-object.ts';

const STORED = '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","uid":"u"},"spec":{"é":1}}';

test('the stored form is the same for every order of the head, with and without a version', () => {
  const spec = { é: 1 };
  const objects: ApiObject[] = [
    { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web', uid: 'u' }, spec },
    { kind: 'Pod', apiVersion: 'v1', metadata: { resourceVersion: '7', name: 'web', uid: 'u' }, spec },
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', uid: 'u' }, spec },
    { spec, metadata: { name: 'web', uid: 'u', resourceVersion: '7' }, apiVersion: 'v1', kind: 'Pod' },
    parseStored(Buffer.from(STORED), '8'),
    parseStored(Buffer.from(STORED)),
  ];
  for (const object of objects) expect(toStoredJson(object).toString()).toBe(STORED);
});

test('writing an object down leaves it as it was', () => {
  const object = parseStored(Buffer.from(STORED), '8');
  toStoredJson(object);
  expect(object.metadata.resourceVersion).toBe('8');
});

const types = loadTypes();

/** A new object with its owner, as a create makes it. */
function owned(seed: number, schema: MessageSchema, labels?: { [key: string]: string }): ApiObject {
  const { object } = decodeObject(new RandomObjects(seed).object(schema), schema);
  const { kind, apiVersion, metadata, ...rest } = object;
  const { managedFields: _, resourceVersion: __, ...kept } = Object(metadata);
  const made: ApiObject = { kind: String(kind), apiVersion: String(apiVersion), metadata: kept, ...rest };
  if (labels !== undefined) made.metadata.labels = labels;
  const version = {
    apiVersion: 'v1',
    shape: shapeOfMessage(schema),
    convert: (all: readonly JsonObject[]) => all,
    convertBack: (all: readonly JsonObject[]) => all,
  };
  const writing = { manager: 'm', subresource: '', version, reset: NO_RESETS, now: '2026-01-01T00:00:00Z' };
  trackUpdate(made, undefined, { ...writing, findVersion: () => version });
  return made;
}

const NO_RESETS = setOf();
const entriesOf = ({ metadata }: ApiObject): ManagedFieldsEntry[] => metadata.managedFields ?? [];

test('an object of any type is written as JSON.stringify writes it, whether or not texts of its sets are kept', () => {
  let kept = 0;
  for (const { storage } of BUILT_IN_RESOURCES) {
    const schema = types.message(storage.type);
    for (const seed of [1, 2, 1, 2, 1]) {
      const object = owned(seed, schema);
      for (const { fieldsV1 } of entriesOf(object)) if (knownTextOf(fieldsV1 ?? {}) !== undefined) kept += 1;
      expect(toStoredJson(object).toString(), storage.type).toBe(JSON.stringify(object));
    }
  }
  expect(kept).toBeGreaterThan(0);
});

test('text from a client is never mistaken for the place of a set', () => {
  const schema = types.message('core/v1.ConfigMap');
  const bait = '"fieldsV1":-0';
  const labels = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`example.com/label-${at}`, 'x']));
  for (let before = 0; before < 2; before += 1) owned(1, schema, labels);
  const object = owned(1, schema, labels);
  const entries = entriesOf(object);
  expect(knownTextOf(entries[0]?.fieldsV1 ?? {})).toBeDefined();
  object.metadata.annotations = { [bait]: bait, é: `\\${bait}`, fieldsV1: '-0' };
  object.more = { fieldsV1: -0, [bait]: 0 };
  const foreign = { manager: bait, fieldsV1: { 'f:x': {} } };
  object.metadata.managedFields = [foreign, ...entries, foreign, ...entries, { manager: 'none' }];
  expect(toStoredJson(object).toString()).toBe(JSON.stringify(object));
});
