import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { toSelectableFields } from '../../src/custom-resources/selectable-fields.ts';
import { parseExactly } from '../../src/object/exact-json.ts';

const fieldsOf = (...paths: string[]) =>
  toSelectableFields({ selectableFields: paths.map((jsonPath) => ({ jsonPath })) });

test('fields are named by their paths, without the first dot, and read as text', () => {
  const fields = fieldsOf('.spec.color', '.spec.hidden', '.spec.size', '.spec.serial', '.status.phase');
  expect(fields.names).toEqual(['spec.color', 'spec.hidden', 'spec.size', 'spec.serial', 'status.phase']);
  const spec = { color: 'blue', hidden: false, size: -3, serial: 9007199254740993n };
  expect(fields.read({ spec })).toEqual({
    'spec.color': 'blue',
    'spec.hidden': 'false',
    'spec.size': '-3',
    'spec.serial': '9007199254740993',
    'status.phase': '',
  });
});

test('what is absent, null or of an unexpected shape has no value', () => {
  const fields = fieldsOf('.spec.color');
  const objects: JsonObject[] = [
    {},
    { spec: null },
    { spec: { color: null } },
    { spec: 'text' },
    { spec: [] },
  ];
  for (const object of objects) expect(fields.read(object)).toEqual({ 'spec.color': '' });
});

test('a version without selectable fields has none', () => {
  expect(toSelectableFields({}).names).toEqual([]);
  expect(toSelectableFields({}).read({ spec: { a: 1 } })).toEqual({});
});

test('a field may have the name of something in a prototype', () => {
  const fields = fieldsOf('.spec.constructor', '.spec.__proto__');
  expect(fields.read({ spec: {} })).toEqual({ 'spec.constructor': '', 'spec.__proto__': '' });
  const spec = parseExactly('{"constructor":"a","__proto__":"b"}');
  expect(fields.read({ spec })).toEqual({ 'spec.constructor': 'a', 'spec.__proto__': 'b' });
});
