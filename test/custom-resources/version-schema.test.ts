import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { JSONSchemaProps } from '../../src/api/types/apiextensions/v1.ts';
import { VersionSchema } from '../../src/custom-resources/version-schema.ts';

const types = loadTypes();

test('metadata of an embedded object has nothing but metadata, with defaults at any depth', () => {
  const head = { apiVersion: 'foos/v1', kind: 'Foo' };
  const metadata = { name: 'bar', odd: 'x' };
  const text = (given: string): JSONSchemaProps => ({ type: 'string', default: given });
  const embedded = (rest: JSONSchemaProps): JSONSchemaProps => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    ...rest,
  });
  const ofType = { apiVersion: text('foos/v1'), kind: text('Foo') };
  const properties: Record<string, JSONSchemaProps> = {
    fields: embedded({
      properties: {
        ...ofType,
        metadata: { type: 'object', properties: { name: text('bar'), odd: text('x') } },
      },
    }),
    metadata_: embedded({ properties: { ...ofType, metadata: { type: 'object', default: metadata } } }),
    whole: embedded({ default: { ...head, metadata } }),
    around: {
      type: 'object',
      properties: { inner: embedded({}) },
      default: { inner: { ...head, metadata } },
    },
  };
  const rules = { keepsUnknown: false, scale: undefined };
  const schema = new VersionSchema({ type: 'object', properties }, { types, ratchets: true }, rules);
  const expected = { ...head, metadata: { name: 'bar' } };
  const given = () => ({
    kind: 'Widget',
    apiVersion: 'a/v1',
    metadata: {},
    fields: { metadata: {} },
    metadata_: {},
  });
  const filled = { fields: expected, metadata_: expected, whole: expected, around: { inner: expected } };
  const { object, unknown } = schema.decode(given());
  expect(object).toMatchObject(filled);
  expect(unknown).toEqual([]);
  expect(object.whole).toEqual(expected);
  expect(object.fields).toEqual(expected);
  const stored = given();
  schema.normalize(stored);
  expect(stored).toEqual({ ...given(), ...filled });
});
