import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { AdmissionAttributes } from './admission.ts';

/** A write whose objects are of type `T`. */
export interface WriteOf<T extends ApiObject> extends AdmissionAttributes {
  readonly object: T | undefined;
  readonly old: T | undefined;
}

/**
 * Whether the resource is written, by itself or through the named subresource. The type of the objects follows from the name
 * of the resource here and nowhere else. A subresource that has a body of its own is named by a resource of that type.
 */
export function isWriteOf<T extends ApiObject>(
  attributes: AdmissionAttributes,
  { group, resource }: ResourceOf<T>,
  subresource = '',
): attributes is WriteOf<T> {
  const { definition } = attributes;
  return (
    definition.resource === resource && attributes.subresource === subresource && definition.group === group
  );
}
