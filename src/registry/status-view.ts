import type { ApiObject, JsonObject, ObjectMeta } from '../api/object-meta.ts';
import { statedBy } from '../object/metadata.ts';

/** Writes of a status, for all kinds of resources. */

/** Fields of the object that a write of its status cannot change, by default. */
export const RESET_BY_STATUS = [['spec']] as const;

/** A write that states no resourceVersion has none, and the resource may refuse that. */
function withoutVersion({ resourceVersion: _, ...rest }: ObjectMeta): ObjectMeta {
  return rest;
}

/** Also takes metadata, as in Kubernetes, because status writers set annotations and labels. */
export function writeStatus<T extends ApiObject>(
  view: T,
  old: T,
  resets: readonly (readonly string[])[] = RESET_BY_STATUS,
): T {
  const metadata: ObjectMeta = resets.some(([part, field]) => part === 'metadata' && field === undefined)
    ? { ...withoutVersion(old.metadata), ...statedBy(view.metadata) }
    : { ...view.metadata };
  const given: JsonObject = metadata;
  const stored: JsonObject = old.metadata;
  for (const [part, field] of resets) {
    if (part !== 'metadata' || field === undefined) continue;
    if (stored[field] === undefined) delete given[field];
    else given[field] = stored[field];
  }
  const written: T = { ...old, metadata, ...(view.status === undefined ? {} : { status: view.status }) };
  if (view.status === undefined) delete written.status;
  return written;
}
