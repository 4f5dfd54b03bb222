import { toApiVersion } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { ServedResource } from './registry.ts';

/** To the form that is stored; the caller's object itself, where that is its form. @see ServedVersion.conversion */
export function toStorage(object: ApiObject, { definition, version }: ServedResource): ApiObject {
  const { storage } = definition;
  const converted = version.conversion === undefined ? object : version.conversion.toStorage(object);
  const apiVersion = toApiVersion(storage);
  return converted.apiVersion === apiVersion ? converted : { ...converted, apiVersion };
}

/** A stored object in the version that the request speaks. */
export function toSeen(stored: ApiObject, { definition, version }: ServedResource): ApiObject {
  const { conversion } = version;
  const converted = conversion === undefined ? stored : conversion.fromStorage(stored);
  return { ...converted, apiVersion: toApiVersion({ group: definition.group, version: version.version }) };
}
