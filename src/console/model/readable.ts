import { isRecord, type Json, type JsonObject } from './api-object.ts';

/** Fields that are hidden unless requested. */
interface Shown {
  readonly managedFields: boolean;
  readonly resourceVersion: boolean;
}

/**
 * Formats an object as kubectl does: sorted fields, so that states differ only in their changes, and without fields for
 * programs.
 */
export function readable(object: Json, { managedFields, resourceVersion }: Shown): Json {
  if (!isRecord(object) || !isRecord(object.metadata)) return inOrder(object);
  const { managedFields: fields, resourceVersion: revision, ...metadata } = object.metadata;
  const shown: JsonObject = {
    ...metadata,
    ...(resourceVersion ? { resourceVersion: revision } : {}),
    ...(managedFields ? { managedFields: fields } : {}),
  };
  return inOrder({ ...object, metadata: shown });
}

function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isRecord(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(
    names.flatMap((name) => (value[name] === undefined ? [] : [[name, inOrder(value[name])]])),
  );
}
