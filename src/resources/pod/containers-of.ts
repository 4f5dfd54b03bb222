import type { JsonObject } from '../../api/object-meta.ts';
import { parts } from '../cells.ts';

/** All containers of a pod spec, each with its path, in the order they begin. */
export function containersOf(
  spec: JsonObject,
  path: string,
): { readonly container: JsonObject; readonly path: string }[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    parts(spec, list).map((container, at) => ({ container, path: `${path}.${list}[${at}]` })),
  );
}
