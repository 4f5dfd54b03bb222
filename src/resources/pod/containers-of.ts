import type { JsonObject } from '../../api/object-meta.ts';
import { objectsOf } from '../../object/parts.ts';

/** Where a pod spec has its containers, in the order they begin. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** All containers of a pod spec, each with its path, in the order they begin. */
export function containersOf(
  spec: JsonObject,
  path: string,
): { readonly container: JsonObject; readonly path: string }[] {
  return CONTAINER_LISTS.flatMap((list) =>
    objectsOf(spec[list]).map((container, at) => ({ container, path: `${path}.${list}[${at}]` })),
  );
}
