import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { parseJsonText } from '../../src/codec/json-text.ts';
import { decodeEnvelope, encodeEnvelope } from '../../src/codec/protobuf/envelope.ts';
import { parseStored, toStoredJson } from '../../src/codec/stored-object.ts';
import { encodeValue } from '../../src/codec/wire-formats.ts';
import { parseYamlText } from '../../src/codec/yaml-text.ts';
import { hasLongInteger } from '../../src/object/exact-json.ts';
import { applyJsonPatch } from '../../src/object/json-patch.ts';
import { applyMergePatch, applyStrategicMerge } from '../../src/object/merge-patch.ts';

const types = loadTypes();
const revisions = types.message('apps/v1.ControllerRevision');

/** Of every length and sign, where a floating point number would say another. */
const LONG = [
  '9007199254740993',
  '-9007199254740993',
  '4611686018427387905',
  '9223372036854775807',
  '-9223372036854775808',
];

const parse = (text: string): JsonValue => parseJsonText(Buffer.from(text)).value;
const textOf = (revision: string, data = revision): string =>
  `{"kind":"ControllerRevision","apiVersion":"apps/v1","metadata":{"name":"a","creationTimestamp":null},"data":{"n":[${data}]},"revision":${revision}}`;
const decode = (value: JsonValue): JsonObject => decodeObject(value, revisions).object;

test.each(LONG)(
  '%s goes JSON → stored → JSON, → protobuf → JSON and → YAML → JSON with all its digits',
  (long) => {
    const text = textOf(long);
    const object = decode(parse(text));
    expect(JSON.stringify(object)).toBe(text);
    const stored = toStoredJson(object as Parameters<typeof toStoredJson>[0]);
    expect(JSON.stringify(parseStored(stored))).toBe(text);
    expect(JSON.stringify(decode(decodeEnvelope(encodeEnvelope(object, revisions), revisions)))).toBe(text);
    const yaml = encodeValue(object, { format: 'yaml', pretty: false });
    expect(yaml.toString()).toContain(`revision: ${long}\n`);
    expect(JSON.stringify(decode(parseYamlText(yaml).value))).toBe(text);
  },
);

test.each(LONG)('%s goes through patches, and is equal to itself', (long) => {
  const object = decode(parse(textOf('1', long)));
  const patch = parse(
    `[{"op":"test","path":"/data/n/0","value":${long}},{"op":"copy","from":"/data/n/0","path":"/revision"}]`,
  );
  expect(JSON.stringify(applyJsonPatch(object, patch))).toBe(textOf(long));
  const change = parse(`{"revision":${long}}`) as JsonObject;
  expect(JSON.stringify(applyMergePatch(object, change))).toBe(textOf(long));
  expect(JSON.stringify(applyStrategicMerge(object, change, revisions))).toBe(textOf(long));
});

test('an integer that has no place in its field is refused with its digits', () => {
  const refusal = (value: string, type: string): string =>
    `json: cannot unmarshal number ${value} into Go struct field ${type}`;
  expect(() => decode(parse(textOf('9223372036854775808')))).toThrow(
    refusal('9223372036854775808', 'ControllerRevision.revision of type int64'),
  );
  expect(() => decode(parse(textOf('-9223372036854775809')))).toThrow('-9223372036854775809');
  const spec = types.message('apps/v1.DeploymentSpec');
  expect(() => decodeObject(parse('{"replicas":9007199254740993}'), spec)).toThrow(
    refusal('9007199254740993', 'DeploymentSpec.replicas of type int32'),
  );
  expect(() => decodeObject(parse('{"paused":9007199254740993}'), spec)).toThrow(
    'cannot unmarshal number into',
  );
});

test('untyped values keep integers of 64 bits, raw objects those of any length', () => {
  const schema = types.message('apiextensions/v1.JSONSchemaProps');
  const text = '{"default":{"a":9223372036854775807,"b":[9223372036854775808]},"maximum":9007199254740993}';
  const { object } = decodeObject(parse(text), schema);
  expect(JSON.stringify(object)).toBe(
    '{"default":{"a":9223372036854775807,"b":[9223372036854776000]},"maximum":9007199254740992}',
  );
  const raw = textOf('1', '123456789012345678901234567890');
  expect(JSON.stringify(decode(parse(raw)))).toBe(raw);
  expect(
    decodeObject(
      parse('{"limits":{"memory":9007199254740993}}'),
      types.message('core/v1.ResourceRequirements'),
    ).object,
  ).toEqual({ limits: { memory: '9007199254740993' } });
});

test('only integers beyond 2^53 take the slow way', () => {
  expect(parse('[9007199254740991, 1e300, 1.5]')).toEqual([9007199254740991, 1e300, 1.5]);
  const sees = (text: string): boolean => hasLongInteger(Buffer.from(text));
  expect(sees('{"image":"x@sha256:1234567890123456789012345678901234567890123456789012345678901234"}')).toBe(
    false,
  );
  expect(sees('{"a":"1234567890123456","b":1234567890.12345678901234567}')).toBe(false);
  for (let indent = 0; indent < 20; indent += 1)
    for (const value of ['1234567890123456', '-1234567890123456789'])
      expect(sees(`${' '.repeat(indent)}{"a":${value}}`), `${indent} ${value}`).toBe(true);
});

test('a text that YAML 1.1 takes for something else is quoted', () => {
  const texts = [
    'yes',
    'n',
    'on',
    'y',
    '0777',
    '1_000',
    '12:30:45',
    '9007199254740993',
    'null',
    '~',
    '1e3',
    '',
  ];
  const yaml = encodeValue({ texts, keys: { n: 1, y: 2 } }, { format: 'yaml', pretty: false });
  expect(parseYamlText(yaml).value).toEqual({ texts, keys: { n: 1, y: 2 } });
});
