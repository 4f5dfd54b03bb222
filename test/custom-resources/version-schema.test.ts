import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { CustomResourceDefinition, JSONSchemaProps } from '../../src/api/types/apiextensions/v1.ts';
import { VersionSchema } from '../../src/custom-resources/version-schema.ts';
import { customresourcedefinitions } from '../../src/resources/apiextensions/custom-resource-definition.ts';
import { atOnce } from '../../src/util/turns.ts';

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

test('formats of names are checked from the version on that is sure to know them', () => {
  const given: JSONSchemaProps = {
    type: 'object',
    properties: {
      name: { type: 'string', format: 'k8s-short-name' },
      ip: { type: 'string', format: 'ipv4' },
    },
  };
  const object = { kind: 'A', apiVersion: 'a/v1', metadata: {}, name: 'A', ip: 'x' };
  const fieldsOf = (checksNames: boolean): string[] => {
    const rules = { keepsUnknown: false, scale: undefined };
    const schema = new VersionSchema(given, { types, ratchets: false, checksNames }, rules);
    return atOnce(schema.validate(object, undefined, () => {}))
      .map(({ field }) => field)
      .sort();
  };
  expect(fieldsOf(true)).toEqual(['ip', 'name']);
  expect(fieldsOf(false)).toEqual(['ip']);
  expect(given.properties?.name).toEqual({ type: 'string', format: 'k8s-short-name' });
});

test('a format that means nothing gets a warning since 1.34, one of names until 1.35', () => {
  const definition = (...schemas: JSONSchemaProps[]): CustomResourceDefinition => {
    const properties = Object.fromEntries(schemas.map((schema, at) => [`f${at}`, schema]));
    const schema = { openAPIV3Schema: { type: 'object', properties } };
    const head = { kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1', metadata: {} };
    return { ...head, spec: { versions: [{ name: 'v1', served: true, storage: true, schema }] } };
  };
  const odd = definition(
    { type: 'string', format: 'odd' },
    { type: 'array', items: { type: 'string', format: 'odd' } },
    { type: 'integer', format: 'uint32' },
    { type: 'integer', format: 'int64' },
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'k8s-long-name' },
    { type: 'boolean', format: 'byte' },
  );
  const warnings = (minor: Minor, old?: CustomResourceDefinition): string[] =>
    customresourcedefinitions.strategy.warnings?.(
      odd,
      old,
      Object.assign(() => false, { minor }),
    ) ?? [];
  const texts = (...formats: string[]): string[] =>
    formats.map((format) => `unrecognized format "${format}"`);
  expect(warnings(33)).toEqual([]);
  expect(warnings(34)).toEqual(texts('odd', 'uint32', 'k8s-long-name', 'byte'));
  expect(warnings(35)).toEqual(texts('odd', 'uint32', 'byte'));
  expect(warnings(36, definition({ type: 'string', format: 'odd' }))).toEqual(texts('uint32', 'byte'));
});
