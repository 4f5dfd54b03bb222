import { toApiVersion } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { ServedResource } from './registry.ts';

/** Converts to the stored form; returns the caller's object if it has that form. @see ServedVersion.conversion */
export function toStorage(object: ApiObject, { definition, version }: ServedResource): ApiObject {
  const { storage } = definition;
  const converted = version.conversion === undefined ? object : version.conversion.toStorage(object);
  const apiVersion = toApiVersion(storage);
  return converted.apiVersion === apiVersion ? converted : { ...converted, apiVersion };
}

/** Converts a stored object to the request's version. */
export function toSeen(stored: ApiObject, { definition, version }: ServedResource): ApiObject {
  const { conversion } = version;
  const converted = conversion === undefined ? stored : conversion.fromStorage(stored);
  return { ...converted, apiVersion: toApiVersion({ group: definition.group, version: version.version }) };
}

/**
 * Converts an object for admission to the version and group of `served`, which may be another name of the resource: a stored
 * object, or one of a custom resource in the version of its request.
 * @throws StatusError when a webhook does not convert it
 */
export function toNamed(object: ApiObject, served: ServedResource): ApiObject | Promise<ApiObject> {
  const { custom } = served.definition;
  return custom === undefined ? toSeen(object, served) : custom.from(object);
}
