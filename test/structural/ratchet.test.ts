import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/json.ts';
import type { Schema } from '../../src/structural/schema-node.ts';
import { validateInSteps } from '../../src/structural/validate-value.ts';
import { atOnce } from '../../src/util/turns.ts';

const short: Schema = { type: 'string', maxLength: 1 };
const item: Schema = {
  type: 'object',
  properties: { k: { type: 'string' }, l: { type: 'integer' }, v: short },
};

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    kind: short,
    one: short,
    two: short,
    inner: { type: 'object', required: ['needed'], properties: { a: short, b: short } },
    closed: {
      type: 'object',
      properties: { a: short, kind: short },
      oneOf: [{ required: ['a'] }, { required: ['kind'] }],
    },
    open: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      required: ['needed'],
      properties: { a: short },
    },
    map: { type: 'object', additionalProperties: short },
    keyed: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: item,
      maxItems: 2,
    },
    keyedTwice: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'l'],
      items: item,
    },
    atomic: { type: 'array', items: short },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: short },
    nullable: { type: 'string' },
  },
};

const fieldsOf = (object: JsonObject, old: JsonObject): string[] =>
  atOnce(validateInSteps(object, SCHEMA, { old })).map(({ field }) => field);

test.each<[string, JsonObject, JsonObject, string[]]>([
  ['a value that did not change is let through', { one: 'long' }, { one: 'long' }, []],
  ['another value is not', { one: 'long' }, { one: 'other' }, ['one']],
  ['a new value is not', { two: 'long' }, { one: 'long', two: 'long' }, ['one']],
  [
    'a value next to one that changed is let through',
    { one: 'long', two: 'a' },
    { one: 'long', two: 'more' },
    ['two'],
  ],
  ['what an object is, is not', { kind: 'long', two: 'a' }, { kind: 'long', two: 'b' }, ['kind']],
  [
    'a kind below the object is a field like any other',
    { closed: { kind: 'long' } },
    { closed: { kind: 'long' } },
    [],
  ],
  ['an object lacks what it lacked, as long as it stays as it is', { inner: {} }, { inner: {} }, []],
  [
    'an object that changes must have all it needs',
    { inner: { a: 'b' } },
    { inner: { a: 'c' } },
    ['inner.needed'],
  ],
  [
    'in an object that changes, fields that do not change are let through',
    { inner: { a: 'long', b: 'b' } },
    { inner: { a: 'long', b: 'c', needed: 1 } },
    [],
  ],
  ['several schemas need not hold of what did not change', { closed: {} }, { closed: {} }, []],
  ['they must hold of what did', { closed: {} }, { closed: { a: 'b', kind: 'c' } }, ['<nil>']],
  [
    'an object with fields that no schema describes counts as changed',
    { open: { x: 1 } },
    { open: { x: 1 } },
    ['open.needed'],
  ],
  [
    'its fields that a schema describes do not',
    { open: { x: 1, a: 'long' } },
    { open: { x: 2, a: 'long', needed: 1 } },
    [],
  ],
  [
    'entries of maps are values of their own',
    { map: { x: 'long', y: 'a' } },
    { map: { x: 'long', y: 'more' } },
    ['map.y'],
  ],
  [
    'items are identified by their keys, at every position',
    {
      keyed: [
        { k: 'a', v: 'long' },
        { k: 'b', v: 'long' },
      ],
    },
    {
      keyed: [
        { k: 'c', v: 'long' },
        { k: 'b', v: 'long' },
      ],
    },
    ['keyed[0].v'],
  ],
  [
    'a list in another order is the same list',
    { keyed: [{ k: 'a' }, { k: 'b' }, { k: 'c' }] },
    { keyed: [{ k: 'c' }, { k: 'a' }, { k: 'b' }] },
    [],
  ],
  [
    'a list with other items is not',
    { keyed: [{ k: 'a' }, { k: 'b' }, { k: 'c' }] },
    { keyed: [{ k: 'c' }, { k: 'a' }, { k: 'd' }] },
    ['keyed'],
  ],
  [
    'an item that has not all keys has no old value',
    { keyed: [{ v: 'long' }], keyedTwice: [{ k: 'a', v: 'long' }] },
    { keyed: [{ v: 'long' }, {}], keyedTwice: [{ k: 'a', v: 'long' }, {}] },
    ['keyed[0].v', 'keyedTwice[0].v'],
  ],
  [
    'two keys tell apart what one does not',
    { keyedTwice: [{ k: 'a', l: 1, v: 'long' }] },
    {
      keyedTwice: [
        { k: 'a', l: 2, v: 'long' },
        { k: 'a', l: 1, v: 'long' },
      ],
    },
    ['keyedTwice[0].v'],
  ],
  [
    'a list that is one value is let through as a whole',
    { atomic: ['long', 'a'] },
    { atomic: ['long', 'a'] },
    [],
  ],
  ['its items are not', { atomic: ['long', 'a'] }, { atomic: ['long', 'b'] }, ['atomic[0]']],
  ['nor those of a set', { set: ['long', 'a'] }, { set: ['a', 'long'] }, ['set[1]']],
  ['a null stays a null', { nullable: null }, { nullable: null }, []],
  ['a null for a value is another value', { nullable: 'a' }, { nullable: null }, ['nullable']],
  ['a value of another type is another value', { inner: [] }, { inner: {} }, ['inner.needed']],
  [
    'nothing is hidden in an object that had nothing wrong',
    {},
    { inner: {}, one: 'long' },
    ['inner.needed', 'one'],
  ],
])('on an update, %s', (_, old, object, fields) => {
  expect(fieldsOf(object, old)).toEqual(fields);
});

test('an update that changes nothing is let through as far as the schema describes the object', () => {
  const wrong = {
    one: 'long',
    inner: { a: 'long' },
    keyed: [{ k: 'a', v: 'long' }],
    map: { x: 'long' },
    atomic: ['long'],
  };
  expect(fieldsOf(structuredClone(wrong), wrong)).toEqual([]);
});
