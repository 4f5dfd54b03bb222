import { expect, test } from 'vitest';
import { loadTypes } from '../../src/api/idl/types.ts';
import type { MessageSchema, ValueSchema } from '../../src/api/schema.ts';
import { BUILT_IN_RESOURCES } from '../kit/built-in-resources.ts';

const types = loadTypes();

const messageIn = (value: ValueSchema): MessageSchema | undefined =>
  value.kind === 'message' ? value.message : undefined;

/** Where a type holds a pod spec, not counting lists. */
function podSpecPaths(schema: MessageSchema, path: string): string[] {
  if (schema.name === 'core/v1.PodSpec') return [path];
  return [...schema.fields.values()].flatMap(({ name, value }) => {
    const inner = messageIn(value);
    const isOwn = inner !== undefined && /^(core|apps|batch)\//.test(inner.name);
    return isOwn ? podSpecPaths(inner, path === '' ? name : `${path}.${name}`) : [];
  });
}

test('every resource whose type has a pod spec says where, and reads it from there', () => {
  const expected = BUILT_IN_RESOURCES.flatMap(({ resource, storage }) =>
    podSpecPaths(types.message(storage.type), '').map((path) => `${resource} ${path}`),
  );
  expect(expected).toHaveLength(9);
  const said = BUILT_IN_RESOURCES.flatMap(({ resource, podTemplate }) =>
    podTemplate === undefined ? [] : [`${resource} ${podTemplate.path}`],
  );
  expect(said).toEqual(expected);
  for (const { podTemplate } of BUILT_IN_RESOURCES) {
    if (podTemplate === undefined) continue;
    const marked = podTemplate.path
      .split('.')
      .reduceRight<object>((inner, name) => ({ [name]: inner }), { hostname: 'it' });
    const object = { kind: 'K', apiVersion: 'v1', metadata: {}, ...marked };
    expect(podTemplate.read(object)?.spec).toEqual({ hostname: 'it' });
  }
});
