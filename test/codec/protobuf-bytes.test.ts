import protobuf from 'protobufjs/minimal.js';
import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { decodeObject } from '../../src/codec/decode.ts';
import { decodeMessage } from '../../src/codec/protobuf/decoder.ts';
import { encodeMessage } from '../../src/codec/protobuf/encoder.ts';
import { RandomObjects } from './random-object.ts';

const { Reader } = protobuf;
const types = loadTypes();

/** Bytes by field: numbers are varints, texts and lists of parts are delimited. */
type Part = readonly [field: number, content: number | string | readonly Part[]];

function wire(...parts: readonly Part[]): Buffer {
  return Buffer.concat(
    parts.map(([field, content]) => {
      const key = varint((field << 3) | (typeof content === 'number' ? 0 : 2));
      if (typeof content === 'number') return Buffer.concat([key, varint(content)]);
      const body = typeof content === 'string' ? Buffer.from(content) : wire(...content);
      return Buffer.concat([key, varint(body.length), body]);
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

interface Sample {
  readonly type: string;
  readonly object: JsonObject;
  readonly bytes: Buffer;
}

const SCHEMA = 'apiextensions/v1.JSONSchemaProps';
const TEXT: Part = [5, 'string'];

/** Each as the generated code of Kubernetes writes it, but for fields that are empty. */
const samples: Readonly<Record<string, Sample>> = {
  'items of one schema': {
    type: SCHEMA,
    object: { items: { type: 'string' } },
    bytes: wire([24, [[1, [TEXT]]]]),
  },
  'items of several schemas': {
    type: SCHEMA,
    object: { items: [{ type: 'string' }, {}] },
    bytes: wire([
      24,
      [
        [2, [TEXT]],
        [2, []],
      ],
    ]),
  },
  'additionalProperties with a schema, which also allows them': {
    type: SCHEMA,
    object: { additionalProperties: { type: 'string' } },
    bytes: wire([
      30,
      [
        [1, 1],
        [2, [TEXT]],
      ],
    ]),
  },
  'additionalProperties that are refused': {
    type: SCHEMA,
    object: { additionalProperties: false },
    bytes: wire([30, [[1, 0]]]),
  },
  'additionalItems that are allowed': {
    type: SCHEMA,
    object: { additionalItems: true },
    bytes: wire([33, [[1, 1]]]),
  },
  'a dependency on fields': {
    type: SCHEMA,
    object: { dependencies: { a: ['b', 'c'] } },
    bytes: wire([
      32,
      [
        [1, 'a'],
        [
          2,
          [
            [2, 'b'],
            [2, 'c'],
          ],
        ],
      ],
    ]),
  },
  'a dependency that is a schema': {
    type: SCHEMA,
    object: { dependencies: { a: { type: 'string' } } },
    bytes: wire([
      32,
      [
        [1, 'a'],
        [2, [[1, [TEXT]]]],
      ],
    ]),
  },
  'a default, which is JSON': {
    type: SCHEMA,
    object: { default: { a: [1, null] } },
    bytes: wire([8, [[1, '{"a":[1,null]}']]]),
  },
  'an enum with null, which has no bytes': {
    type: SCHEMA,
    object: { enum: ['a', null, 1] },
    bytes: wire([20, [[1, '"a"']]], [20, []], [20, [[1, '1']]]),
  },
  'a port by number': {
    type: 'core/v1.HTTPGetAction',
    object: { port: 80 },
    bytes: wire([
      2,
      [
        [1, 0],
        [2, 80],
        [3, ''],
      ],
    ]),
  },
  'a port by name': {
    type: 'core/v1.HTTPGetAction',
    object: { port: 'web' },
    bytes: wire([
      2,
      [
        [1, 1],
        [2, 0],
        [3, 'web'],
      ],
    ]),
  },
  'a quantity': {
    type: 'core/v1.ResourceRequirements',
    object: { limits: { cpu: '100m' } },
    bytes: wire([
      1,
      [
        [1, 'cpu'],
        [2, [[1, '100m']]],
      ],
    ]),
  },
  'a time with microseconds': {
    type: 'coordination/v1.LeaseSpec',
    object: { renewTime: '2026-11-21T04:00:00.123456Z' },
    bytes: wire([
      4,
      [
        [1, 1795233600],
        [2, 123456000],
      ],
    ]),
  },
  'a time in whole seconds': {
    type: 'core/v1.PodCondition',
    object: { lastProbeTime: '2026-11-21T04:00:00Z', lastTransitionTime: null },
    bytes: wire([
      3,
      [
        [1, 1795233600],
        [2, 0],
      ],
    ]),
  },
  'any object': {
    type: 'apps/v1.ControllerRevision',
    object: { data: { a: 1 } },
    bytes: wire([2, [[1, '{"a":1}']]]),
  },
  'a set of fields': {
    type: 'meta/v1.ManagedFieldsEntry',
    object: { fieldsV1: { 'f:spec': {} } },
    bytes: wire([7, [[1, '{"f:spec":{}}']]]),
  },
  'groups of a user, each a list in a message': {
    type: 'authentication/v1.UserInfo',
    object: { extra: { a: ['b'] } },
    bytes: wire([
      4,
      [
        [1, 'a'],
        [2, [[1, 'b']]],
      ],
    ]),
  },
};

for (const [name, { type, object, bytes }] of Object.entries(samples)) {
  test(`the bytes of ${name} are those of Kubernetes, both ways`, () => {
    const schema = types.message(type);
    expect(encodeMessage(object, schema).toString('hex')).toBe(bytes.toString('hex'));
    const back = decodeObject(decodeMessage(bytes, schema), schema).object;
    expect(back).toEqual(decodeObject(object, schema).object);
    expect(back).toMatchObject(object);
  });
}

test('a value that is neither a schema nor its alternative is refused or dropped, as in Kubernetes', () => {
  const schema = types.message(SCHEMA);
  const decode = (object: JsonObject): JsonObject => decodeObject(object, schema).object;
  expect(() => decode({ additionalProperties: 'yes' })).toThrow('boolean or JSON schema expected');
  expect(() => decode({ dependencies: { a: [1] } })).toThrow(
    'cannot unmarshal number into Go value of type string',
  );
  expect(() => decode({ items: { minLength: 'x' } })).toThrow(
    'json: cannot unmarshal string into Go struct field JSONSchemaProps.minLength of type int64',
  );
  expect(decode({ items: true })).toEqual({ items: null });
  expect(decodeObject({ items: { typo: 1, type: 'string' } }, schema)).toEqual({
    object: { items: { type: 'string' } },
    unknown: [],
  });
});

/** Numbers of the fields of a message, as they stand on the wire. */
function numbersOf(bytes: Uint8Array): number[] {
  const reader = Reader.create(bytes);
  const numbers: number[] = [];
  while (reader.pos < bytes.length) {
    const key = reader.uint32();
    numbers.push(key >>> 3);
    reader.skipType(key & 7);
  }
  return numbers;
}

test('fields stand in the order of their numbers, in every type', () => {
  for (const name of types.names()) {
    const schema = types.message(name);
    for (const seed of [1, 2, 3]) {
      const numbers = numbersOf(encodeMessage(new RandomObjects(seed).object(schema), schema));
      expect(numbers, name).toEqual([...numbers].sort((a, b) => a - b));
    }
  }
});
