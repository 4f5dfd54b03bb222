import type { TypeLibrary } from '../../api/idl/types.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { validateImmutable } from '../../object/immutable-fields.ts';
import { validateAgainstSchema } from '../../object/validate-schema.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { validateObjectMeta } from '../../registry/validate-metadata.ts';

/**
 * Everything that is wrong with an object by itself: its metadata, the rules of its resource, and what the description of
 * its type says. Where the resource names a mistake the type would name too, the resource's words count. Parts that are as
 * they were in `old`, the stored object, were found good when it was stored and need not be looked at again.
 */
export function validateObject(
  definition: ResourceDefinition,
  object: ApiObject,
  types: TypeLibrary,
  old?: ApiObject,
): FieldError[] {
  const errors = validateObjectMeta(object.metadata, definition).filter(({ field }) => !isKept(field, old));
  const own = definition.strategy.validate?.(object, old) ?? [];
  const general = validateAgainstSchema(object, types.message(definition.storage.type), old).filter(
    ({ field }) => !isJudgedAlone(definition, field),
  );
  if (own.length === 0) return general.length === 0 ? errors : [...errors, ...general];
  const said = new Set(own.map(({ type, field }) => `${type} ${field}`));
  return [...errors, ...own, ...general.filter(({ type, field }) => !said.has(`${type} ${field}`))];
}

/** What the update from `old` may not do: change fields that the type calls immutable, and what the rules of its resource say. */
export function validateUpdate(
  definition: ResourceDefinition,
  object: ApiObject,
  old: ApiObject,
  types: TypeLibrary,
): FieldError[] {
  return [
    ...validateImmutable(object, old, types.message(definition.storage.type)),
    ...(definition.strategy.validateUpdate?.(object, old) ?? []),
  ];
}

const isJudgedAlone = ({ strategy: { judgesAlone = [] } }: ResourceDefinition, field: string): boolean =>
  judgesAlone.some((path) => field === path || field.startsWith(`${path}[`) || field.startsWith(`${path}.`));

/** A name cannot change: the rules for it may have, since the object was made. */
const isKept = (field: string, old: ApiObject | undefined): boolean =>
  old !== undefined && field === 'metadata.name';
