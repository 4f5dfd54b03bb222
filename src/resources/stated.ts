import type { ObjectMeta } from '../api/object-meta.ts';

/** What the metadata of a written view says of the write itself: its preconditions, and who owns what after it. */
export function statedBy({ resourceVersion, uid, managedFields }: ObjectMeta): ObjectMeta {
  return {
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
    ...(managedFields === undefined ? {} : { managedFields }),
  };
}
