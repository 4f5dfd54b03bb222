import { isRecord, type Json, type JsonObject } from './json.ts';

const FIRST: readonly string[] = ['apiVersion', 'kind', 'metadata'];
const FIRST_OF_METADATA: readonly string[] = ['name', 'namespace', 'labels', 'annotations'];

/** What is left out, unless it is asked for or said otherwise. */
interface Shown {
  readonly managedFields: boolean;
  readonly resourceVersion?: boolean;
}

/** An object in the order in which people write it, without what only programs read. */
export function readable(object: Json, { managedFields, resourceVersion = true }: Shown): Json {
  if (!isRecord(object)) return object;
  const { metadata } = object;
  if (!isRecord(metadata)) return inOrder(object, FIRST);
  const { managedFields: fields, resourceVersion: revision, ...rest } = metadata;
  const shown = {
    ...inOrder(rest, FIRST_OF_METADATA),
    ...(resourceVersion ? { resourceVersion: revision } : {}),
    ...(managedFields ? { managedFields: fields } : {}),
  };
  return inOrder({ ...object, metadata: shown }, FIRST);
}

const inOrder = (object: JsonObject, first: readonly string[]): JsonObject => ({
  ...Object.fromEntries(first.flatMap((name) => (name in object ? [[name, object[name]]] : []))),
  ...Object.fromEntries(Object.entries(object).filter(([name]) => !first.includes(name))),
});
