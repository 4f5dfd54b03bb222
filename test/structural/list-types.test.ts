import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import { listTypesInSteps } from '../../src/structural/list-types.ts';
import type { Schema } from '../../src/structural/schema-node.ts';
import { atOnce } from '../../src/util/turns.ts';

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    set: { type: 'array', 'x-kubernetes-list-type': 'set' },
    plain: { type: 'array' },
    one: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
    two: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a', 'b'] },
    map: { type: 'object', additionalProperties: { type: 'array', 'x-kubernetes-list-type': 'set' } },
    nested: {
      type: 'array',
      items: { type: 'object', properties: { set: { type: 'array', 'x-kubernetes-list-type': 'set' } } },
    },
  },
};

test.each<[JsonObject, string[]]>([
  [{ plain: [1, 1], set: [1, '1', null, true, 'null', '{}', {}, { a: 1 }, [1]] }, []],
  [
    { set: ['a', 'b', 'a', 'a', { x: 1, y: [2] }, { y: [2], x: 1 }, null, null, 1.5, 1.5] },
    [
      'set[2]: Duplicate value: "a"',
      'set[5]: Duplicate value: map[string]interface {}{"x":1, "y":[]interface {}{2}}',
      'set[7]: Duplicate value: "null"',
      'set[9]: Duplicate value: 1.5',
    ],
  ],
  [{ one: [{ a: 1 }, { a: '1' }, {}, null] }, ['one[3]: Duplicate value: map[string]interface {}{}']],
  [
    {
      one: [
        { a: 1, b: 1 },
        { a: 1, b: 2 },
      ],
    },
    ['one[1]: Duplicate value: map[string]interface {}{"a":1}'],
  ],
  [{ one: [{ a: 1 }, 5] }, ['one[1]: Invalid value: 5: must be an object for an array of list-type map']],
  [{ one: [5] }, ['one[0]: Invalid value: 5: must be an object for an array of list-type map']],
  [
    { two: [{ a: 1 }, { a: 1, b: 1 }, { b: 1, a: 1 }, { a: 1, c: 1 }, {}, {}] },
    [
      'two[2]: Duplicate value: map[string]interface {}{"a":1, "b":1}',
      'two[3]: Duplicate value: map[string]interface {}{"a":1}',
      'two[5]: Duplicate value: map[string]interface {}{}',
    ],
  ],
  [
    { map: { x: [1, 1] }, nested: [{ set: [] }, { set: [2, 2] }] },
    ['map[x][1]: Duplicate value: 1', 'nested[1].set[1]: Duplicate value: 2'],
  ],
  [{ set: {}, one: 'a', map: [], nested: [[], null] }, []],
])('%j is held against the types of its lists', (object, lines) => {
  expect(
    atOnce(listTypesInSteps(object, SCHEMA)).map(({ field, message }) => `${field}: ${message}`),
  ).toEqual(lines);
});

test('an update of an object with an error may have another one, and one of a good object may not', () => {
  const linesOf = (object: JsonObject, old: JsonObject): string[] =>
    atOnce(listTypesInSteps(object, SCHEMA, old)).map(({ field }) => field);
  expect(linesOf({ set: [1, 1] }, { one: [{ a: 1 }, { a: 1 }] })).toEqual([]);
  expect(linesOf({ set: [1, 1] }, { set: [1] })).toEqual(['set[1]']);
  expect(linesOf({ set: [1] }, { set: [1, 1] })).toEqual([]);
});
