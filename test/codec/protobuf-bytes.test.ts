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
  readonly parts: readonly Part[];
}

const SCHEMA = 'apiextensions/v1.JSONSchemaProps';

/** Fields of Go types that are no pointers, which are written even when they are empty. */
const texts = (...fields: number[]): Part[] => fields.map((field) => [field, '']);
const zeros = (...fields: number[]): Part[] => fields.map((field) => [field, 0]);
const EMPTY: Readonly<Record<string, readonly Part[]>> = {
  [SCHEMA]: [...texts(1, 2, 4, 5, 6, 7, 15), ...zeros(10, 12, 18, 37, 39, 40)],
  'core/v1.HTTPGetAction': texts(1, 3, 4),
  'core/v1.PodCondition': texts(1, 2, 4, 5, 6),
  'apps/v1.ControllerRevision': [
    [1, [...texts(1, 2, 3, 4, 5, 6), [7, 0], [8, '']]],
    [3, 0],
  ],
  'meta/v1.ManagedFieldsEntry': texts(1, 2, 3, 6, 8),
  'authentication/v1.UserInfo': texts(1, 2),
};

/** The parts of a message of a type, with the empty fields between them. */
function full(type: string, ...given: readonly Part[]): Part[] {
  const numbers = new Set(given.map(([field]) => field));
  const empty = (EMPTY[type] ?? []).filter(([field]) => !numbers.has(field));
  return [...empty, ...given].sort(([a], [b]) => a - b);
}

const TEXT = full(SCHEMA, [5, 'string']);

/** Each as the generated code of Kubernetes writes it; `parts` are without the empty fields of the outermost message. */
const samples: Readonly<Record<string, Sample>> = {
  'items of one schema': {
    type: SCHEMA,
    object: { items: { type: 'string' } },
    parts: [[24, [[1, TEXT]]]],
  },
  'items of several schemas': {
    type: SCHEMA,
    object: { items: [{ type: 'string' }, {}] },
    parts: [
      [
        24,
        [
          [2, TEXT],
          [2, full(SCHEMA)],
        ],
      ],
    ],
  },
  'additionalProperties with a schema, which also allows them': {
    type: SCHEMA,
    object: { additionalProperties: { type: 'string' } },
    parts: [
      [
        30,
        [
          [1, 1],
          [2, TEXT],
        ],
      ],
    ],
  },
  'additionalProperties that are refused': {
    type: SCHEMA,
    object: { additionalProperties: false },
    parts: [[30, [[1, 0]]]],
  },
  'additionalItems that are allowed': {
    type: SCHEMA,
    object: { additionalItems: true },
    parts: [[33, [[1, 1]]]],
  },
  'a dependency on fields': {
    type: SCHEMA,
    object: { dependencies: { a: ['b', 'c'] } },
    parts: [
      [
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
      ],
    ],
  },
  'a dependency that is a schema': {
    type: SCHEMA,
    object: { dependencies: { a: { type: 'string' } } },
    parts: [
      [
        32,
        [
          [1, 'a'],
          [2, [[1, TEXT]]],
        ],
      ],
    ],
  },
  'a default, which is JSON': {
    type: SCHEMA,
    object: { default: { a: [1, null] } },
    parts: [[8, [[1, '{"a":[1,null]}']]]],
  },
  'an enum with null, which has no bytes': {
    type: SCHEMA,
    object: { enum: ['a', null, 1] },
    parts: [
      [20, [[1, '"a"']]],
      [20, []],
      [20, [[1, '1']]],
    ],
  },
  'a port by number': {
    type: 'core/v1.HTTPGetAction',
    object: { port: 80 },
    parts: [
      [
        2,
        [
          [1, 0],
          [2, 80],
          [3, ''],
        ],
      ],
    ],
  },
  'a port by name': {
    type: 'core/v1.HTTPGetAction',
    object: { port: 'web' },
    parts: [
      [
        2,
        [
          [1, 1],
          [2, 0],
          [3, 'web'],
        ],
      ],
    ],
  },
  'a quantity': {
    type: 'core/v1.ResourceRequirements',
    object: { limits: { cpu: '100m' } },
    parts: [
      [
        1,
        [
          [1, 'cpu'],
          [2, [[1, '100m']]],
        ],
      ],
    ],
  },
  'a time with microseconds': {
    type: 'coordination/v1.LeaseSpec',
    object: { renewTime: '2026-11-21T04:00:00.123456Z' },
    parts: [
      [
        4,
        [
          [1, 1795233600],
          [2, 123456000],
        ],
      ],
    ],
  },
  'a time in whole seconds': {
    type: 'core/v1.PodCondition',
    object: { lastProbeTime: '2026-11-21T04:00:00Z', lastTransitionTime: null },
    parts: [
      [
        3,
        [
          [1, 1795233600],
          [2, 0],
        ],
      ],
    ],
  },
  'any object': {
    type: 'apps/v1.ControllerRevision',
    object: { data: { a: 1 } },
    parts: [[2, [[1, '{"a":1}']]]],
  },
  'a set of fields': {
    type: 'meta/v1.ManagedFieldsEntry',
    object: { fieldsV1: { 'f:spec': {} } },
    parts: [[7, [[1, '{"f:spec":{}}']]]],
  },
  'groups of a user, each a list in a message': {
    type: 'authentication/v1.UserInfo',
    object: { extra: { a: ['b'] } },
    parts: [
      [
        4,
        [
          [1, 'a'],
          [2, [[1, 'b']]],
        ],
      ],
    ],
  },
};

for (const [name, { type, object, parts }] of Object.entries(samples)) {
  test(`the bytes of ${name} are those of Kubernetes, both ways`, () => {
    const schema = types.message(type);
    const bytes = wire(...full(type, ...parts));
    expect(encodeMessage(object, schema).toString('hex')).toBe(bytes.toString('hex'));
    const back = decodeObject(decodeMessage(bytes, schema), schema).object;
    expect(back).toEqual(decodeObject(object, schema).object);
    expect(back).toMatchObject(object);
  });
}

test('fields that Go writes when they are empty are those that are no pointers, in structs within structs and in maps', () => {
  const encoded = (type: string, object: JsonObject): string =>
    encodeMessage(object, types.message(type)).toString('hex');
  const hex = (...parts: readonly Part[]): string => wire(...parts).toString('hex');
  const meta: Part = [1, [...texts(1, 2, 3, 4, 5, 6), [7, 0], [8, '']]];
  expect(encoded('core/v1.ConfigMap', {})).toBe(hex(meta));
  // Its disruptions are a map of times; its status has numbers.
  const disrupted: Part = [
    2,
    [
      [1, 'a'],
      [2, ''],
    ],
  ];
  expect(encoded('policy/v1.PodDisruptionBudgetStatus', { disruptedPods: { a: null } })).toBe(
    hex([1, 0], disrupted, ...zeros(3, 4, 5, 6)),
  );
  // The source of a volume is a struct in the volume; a divisor is a quantity.
  const field: Part = [1, [...texts(1, 2), [3, [[1, '0']]]]];
  expect(encoded('core/v1.Volume', { name: 'v' })).toBe(hex([1, 'v'], [2, '']));
  expect(encoded('core/v1.ResourceFieldSelector', {})).toBe(hex(...(field[1] as Part[])));
  // A port that may be a name has a type, a number and a name.
  expect(encoded('core/v1.TCPSocketAction', {})).toBe(hex([1, [...zeros(1, 2), [3, '']]], [2, '']));
  // Some fields are written in JSON when they are empty, and are pointers all the same.
  expect(encoded('core/v1.TypedLocalObjectReference', {})).toBe(hex(...texts(2, 3)));
});

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
