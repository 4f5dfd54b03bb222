import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { parseJsonText } from '../../src/codec/json-text.ts';
import { encodeEnvelope } from '../../src/codec/protobuf/envelope.ts';
import { parseBytes } from '../../src/codec/wire-formats.ts';
import { MAX_DEPTH, MAX_VALUES } from '../../src/object/document-limits.ts';
import { applyJsonPatch } from '../../src/object/json-patch.ts';

const types = loadTypes();
const schema = types.message('core/v1.ConfigMap');
const definition = types.message('apiextensions/v1.CustomResourceDefinition');

/** Objects, one in the other. */
const nested = (depth: number): JsonObject =>
  JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as JsonObject;
const wide = (values: number): JsonValue[] => Array.from({ length: values }, () => 1);

const asJson = (value: JsonValue): Buffer => Buffer.from(JSON.stringify(value));
const asYaml = (value: JsonValue): Buffer => Buffer.from(`# YAML\n${JSON.stringify(value)}`);
/** A default of a schema is JSON inside of protobuf. */
const asProtobuf = (value: JsonValue): Buffer =>
  encodeEnvelope(
    {
      kind: 'CustomResourceDefinition',
      apiVersion: 'v1',
      spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', default: value } } }] },
    },
    definition,
  );

const FORMS: readonly [string, (value: JsonValue) => unknown][] = [
  ['JSON', (value) => parseBytes(asJson(value), 'json', schema)],
  [
    'JSON behind a repeated key',
    (value) => parseJsonText(Buffer.from(`{"x":{"a":1,"a":1},"y":${JSON.stringify(value)}}`)),
  ],
  [
    'JSON behind an escaped key',
    (value) => parseJsonText(Buffer.from(`{"\\u0061":1,"y":${JSON.stringify(value)}}`)),
  ],
  ['YAML', (value) => parseBytes(asYaml(value), 'yaml', schema)],
  ['JSON inside of protobuf', (value) => parseBytes(asProtobuf(value), 'protobuf', definition)],
  [
    'what a JSON patch makes',
    (value) => applyJsonPatch({ data: {} }, [{ op: 'add', path: '/data/x', value }]),
  ],
];

test.each(FORMS)('%s: may be 500 deep, and no deeper than all others', (_form, read) => {
  expect(() => read(nested(500))).not.toThrow();
  expect(() => read(nested(MAX_DEPTH + 1))).toThrow(`exceeded max depth of ${MAX_DEPTH}`);
});

test.each(FORMS)('%s: may have as many values as all others', (_form, read) => {
  expect(() => read(wide(MAX_VALUES - 100))).not.toThrow();
  expect(() => read(wide(MAX_VALUES + 1))).toThrow(StatusError);
});

test('messages of protobuf are nested no deeper, either', () => {
  const schemaOf = (depth: number): JsonObject =>
    JSON.parse(`${'{"not":'.repeat(depth)}{}${'}'.repeat(depth)}`) as JsonObject;
  const bytes = (depth: number): Buffer =>
    encodeEnvelope(
      { kind: 'x', apiVersion: 'v1', spec: { versions: [{ schema: { openAPIV3Schema: schemaOf(depth) } }] } },
      definition,
    );
  expect(() => parseBytes(bytes(400), 'protobuf', definition)).not.toThrow();
  expect(() => parseBytes(bytes(700), 'protobuf', definition)).toThrow('exceeded max depth');
});

test('values that are added below each other are no deeper than one may be', () => {
  const operations = Array.from({ length: 5 }, (_, at) => ({
    op: 'add',
    path: `/x${'/a'.repeat(150 * at)}`,
    value: nested(150),
  }));
  expect(() => applyJsonPatch({}, operations)).toThrow('exceeded max depth');
  expect(() => applyJsonPatch({}, operations.slice(0, 3))).not.toThrow();
});

test('the problems of a document are reported a hundred times and in short', () => {
  const long = 'k'.repeat(100_000);
  const fields = Array.from({ length: 5000 }, (_, at) => `"u${at}":1`).join(',');
  const unknown = decodeObject(
    JSON.parse(`{"metadata":{"labels":{},${fields}},"${long}":1}`) as JsonValue,
    schema,
  ).unknown;
  expect(unknown).toHaveLength(100);
  expect(unknown[0]).toBe('metadata.u0');
  const repeated = Array.from({ length: 5000 }, (_, at) => `"u${at}":1,"u${at}":1`).join(',');
  const { duplicates } = parseJsonText(Buffer.from(`{"${long}":{${repeated}},"b":1,"b":1}`));
  expect(duplicates.length).toBeLessThanOrEqual(100);
  for (const path of duplicates) expect(path.length).toBeLessThan(1100);
});
