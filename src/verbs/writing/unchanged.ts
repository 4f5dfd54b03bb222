import type { ApiObject } from '../../api/object-meta.ts';
import { equal, equalExcept } from '../../object/equality.ts';
import { sameOwners } from '../../object/managed-fields/owners.ts';

/** What an update leaves as it was. */

/** Parts that did not change become the old ones, so that whoever compares them later sees it at once. */
export function shareUnchanged(object: ApiObject, old: ApiObject): void {
  for (const name of Object.keys(object)) {
    const value: unknown = old[name];
    if (name !== 'metadata' && object[name] !== value && equal(object[name], value)) object[name] = old[name];
  }
}

/** In whatever order its fields come. That an owner wrote a field again, with the value it had, is no change either. */
export function isUnchanged(object: ApiObject, old: ApiObject): boolean {
  return (
    equalExcept(object.metadata, old.metadata, ['managedFields', 'resourceVersion']) &&
    sameOwners(object.metadata.managedFields, old.metadata.managedFields) &&
    equalExcept(object, old, ['metadata'])
  );
}
