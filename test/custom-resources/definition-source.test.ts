import { expect, test } from 'vitest';
import { DefinitionSource } from '../../src/custom-resources/definition-source.ts';

const source = (): DefinitionSource => {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }, { name: 'v2' }];
  return new DefinitionSource(Buffer.from(JSON.stringify({ metadata: { name: 'a' }, spec: { versions } })));
};

test('a schema in use is parsed once, and one that is only published is not kept', () => {
  const used = source();
  expect(used.readSchema('v1')).toEqual({ type: 'object' });
  expect(used.readSchema('v1')).not.toBe(used.readSchema('v1'));
  const schema = used.schemaOf('v1');
  expect(schema).toEqual({ type: 'object' });
  expect(used.schemaOf('v1')).toBe(schema);
  expect(used.readSchema('v1')).toBe(schema);
});

test('a version without a schema, or that is not there, has none', () => {
  for (const version of ['v2', 'v3']) {
    expect(source().schemaOf(version)).toBeUndefined();
    expect(source().readSchema(version)).toBeUndefined();
  }
});
