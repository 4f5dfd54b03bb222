import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { checkConfig } from '../../src/object/managed-fields/check-config.ts';
import { fieldsOf, mergeConfig } from '../../src/object/managed-fields/merge-config.ts';
import { shapeOfMessage } from '../../src/object/managed-fields/shape.ts';
import { toMessage } from '../../src/structural/apply-types.ts';
import type { Schema } from '../../src/structural/schema-node.ts';

const objectMeta = loadTypes().message('meta/v1.ObjectMeta');
const number: Schema = { type: 'integer' };

const SCHEMA: Schema = {
  type: 'object',
  properties: {
    kind: { type: 'string' },
    apiVersion: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        number,
        scalar: { 'x-kubernetes-int-or-string': true },
        when: { type: 'string', format: 'date-time' },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        list: { type: 'array', items: number },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            properties: {
              port: number,
              protocol: { type: 'string', default: 'TCP' },
              name: { type: 'string' },
            },
          },
        },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: number } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        sets: {
          type: 'object',
          additionalProperties: { type: 'array', 'x-kubernetes-list-type': 'set', items: number },
        },
        atomics: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            additionalProperties: number,
          },
        },
        free: { type: 'object' },
        open: {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': true,
          properties: { a: number, deep: { type: 'object', properties: { a: number } } },
        },
        any: { 'x-kubernetes-preserve-unknown-fields': true },
        whole: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object' } },
        },
      },
    },
  },
};

const message = toMessage(SCHEMA, objectMeta);
const shape = shapeOfMessage(message);
const owned = (spec: JsonObject): unknown => {
  const fields = fieldsOf({ spec }, shape) as Record<string, unknown>;
  return fields['f:spec'];
};

test('each field has an owner, as the schema says what is one value', () => {
  expect(
    owned({
      number: 1,
      scalar: 'a',
      set: ['a', 'b'],
      list: [1, 2],
      ports: [{ port: 80, name: 'http' }],
      atomic: { a: 1 },
      labels: { x: 'y' },
      sets: { x: [1] },
      atomics: { x: { a: 1 } },
    }),
  ).toEqual({
    'f:number': {},
    'f:scalar': {},
    'f:set': { 'v:"a"': {}, 'v:"b"': {} },
    'f:list': {},
    'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:name': {} } },
    'f:atomic': {},
    'f:labels': { 'f:x': {} },
    'f:sets': { 'f:x': { '.': {}, 'v:1': {} } },
    'f:atomics': { 'f:x': {} },
  });
});

test('what the schema does not describe is what it looks like', () => {
  expect(owned({ free: { a: { b: [1] } }, open: { a: 1, x: { y: 1 } }, any: { z: 1 } })).toEqual({
    'f:free': { 'f:a': { '.': {}, 'f:b': {} } },
    'f:open': { 'f:a': {}, 'f:x': { '.': {}, 'f:y': {} } },
    'f:any': { 'f:z': {} },
  });
});

test('metadata of the object and of embedded objects is typed', () => {
  const finalizers = { metadata: { finalizers: ['a/b'] } };
  const expected = { 'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} } } };
  expect(fieldsOf(finalizers, shape)).toEqual(expected);
  expect(owned({ whole: { kind: 'A', ...finalizers } })).toEqual({
    'f:whole': { 'f:kind': {}, ...expected },
  });
});

test('a configuration is laid over an object as the schema merges it', () => {
  const live = {
    spec: {
      ports: [
        { port: 80, protocol: 'TCP', name: 'a' },
        { port: 81, protocol: 'TCP' },
      ],
      set: ['a'],
      atomic: { b: 1 },
    },
  };
  const config = { spec: { ports: [{ port: 80, name: 'b' }], set: ['b'], atomic: { a: 1 } } };
  expect(mergeConfig(live, config, shape)).toEqual({
    spec: {
      ports: [
        { port: 80, protocol: 'TCP', name: 'b' },
        { port: 81, protocol: 'TCP' },
      ],
      set: ['a', 'b'],
      atomic: { a: 1 },
    },
  });
});

test.each<[JsonObject, string[]]>([
  [{ open: { x: 1 }, any: [], free: { a: 1 }, scalar: 1, when: 5, whole: { kind: 'A', metadata: {} } }, []],
  [{ open: { deep: { unknown: 1 } } }, []],
  [{ foo: 1 }, ['.spec.foo: field not declared in schema']],
  [{ number: 'a' }, ['.spec.number: expected numeric (int or float), got string']],
  [{ list: {} }, ['.spec.list: expected list, got &{map[]}']],
  [
    { ports: [{ name: 'a' }] },
    [
      '.spec.ports: element 0: associative list with keys has an element that omits key field "port" (and doesn\'t have default value)',
    ],
  ],
  [{ whole: { metadata: { foo: 1 } } }, ['.spec.whole.metadata.foo: field not declared in schema']],
])('a configuration %j is checked', (spec, errors) => {
  expect(checkConfig({ kind: 'A', apiVersion: 'a/v1', metadata: { name: 'a' }, spec }, message)).toEqual(
    errors,
  );
});

test('a level is made when it is looked at, and once', () => {
  let made = 0;
  const deep: Schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        get properties() {
          made += 1;
          return { a: number };
        },
      },
    },
  };
  const type = toMessage(deep, objectMeta);
  const before = made;
  const spec = type.fields.get('spec')?.value;
  if (spec?.kind !== 'message') throw new Error('spec is no message');
  expect(spec.message).toBe(spec.message);
  expect(made).toBeGreaterThan(before);
});
