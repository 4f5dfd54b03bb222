import { isRecord, type Json, type JsonObject } from './json.ts';

/** What is left out, unless it is asked for or said otherwise. */
interface Shown {
  readonly managedFields: boolean;
  readonly resourceVersion: boolean;
}

/**
 * An object as kubectl shows it: fields in the order of the alphabet, so that two states differ in what was changed and not in
 * when it was set; and without what only programs read.
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
