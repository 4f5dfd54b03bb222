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

/**
 * What admission judges in the version and group of `served`, another name of the same resource or the same: a stored object, or one
 * of a custom resource in the version of its request.
 * @throws StatusError when a webhook does not convert it
 */
export function toNamed(object: ApiObject, served: ServedResource): ApiObject | Promise<ApiObject> {
  const { custom } = served.definition;
  return custom === undefined ? toSeen(object, served) : custom.from(object);
}
