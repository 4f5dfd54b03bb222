import { expect, test } from 'vitest';
import { loadTypes } from '../../../src/api/idl/types.ts';
import type { ApiObject, JsonObject } from '../../../src/api/object-meta.ts';
import { decodeObject } from '../../../src/codec/decode.ts';
import { GatedFields } from '../../../src/registry/gated-fields.ts';
import type { ResourceDefinition, ViewSubresource } from '../../../src/registry/resource-definition.ts';
import { keepSystemMetadata } from '../../../src/verbs/writing/object-metadata.ts';
import { validateObject } from '../../../src/verbs/writing/prepare-write.ts';
import { RandomObjects } from '../../codec/random-object.ts';
import { BUILT_IN_RESOURCES } from '../../kit/built-in-resources.ts';
import { cases } from '../../kit/cases.ts';

const types = loadTypes();
const gatedFields = new GatedFields(() => false, types);
const random = new RandomObjects(7);

function randomOf(type: string): ApiObject {
  const { object } = decodeObject(random.object(types.message(type)), types.message(type));
  const { kind = '', apiVersion = '', metadata = {}, ...rest } = object as JsonObject & Partial<ApiObject>;
  return { kind, apiVersion, metadata, ...rest };
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** The row of steps in which the writer handles what a view makes of a stored object. */
function writeThrough(view: ViewSubresource, definition: ResourceDefinition): void {
  const old = frozen(randomOf(definition.storage.type));
  const object = view.write(randomOf(view.type), old);
  object.metadata.managedFields = [];
  keepSystemMetadata(object, old);
  gatedFields.drop(definition, object, old);
  validateObject(definition, object, types, { old });
  view.validate?.(object, old);
  definition.strategy.warnings?.(object, old);
}

const views = BUILT_IN_RESOURCES.flatMap((definition) =>
  definition.subresources.flatMap((view) =>
    view.access === 'view' && view.verbs.includes('update') ? [{ view, definition }] : [],
  ),
);

test('a write through any view leaves the stored object as it was, with any other part in the new one', () => {
  expect(views.length).toBeGreaterThan(30);
  for (const { view, definition } of views)
    for (let round = 0; round < cases(30); round += 1)
      expect(() => writeThrough(view, definition), `${definition.resource}/${view.name}`).not.toThrow();
});
