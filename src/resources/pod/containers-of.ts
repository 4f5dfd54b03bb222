import type { Container, EphemeralContainer, PodSpec } from '../../api/types/core/v1.ts';
import { FieldPath } from '../../object/field-path.ts';

/** The lists of containers in a pod spec, in starting order. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

interface PlacedContainer {
  readonly container: Container | EphemeralContainer;
  readonly at: FieldPath;
}

/** All containers of a pod spec, which is at `spec`, each with its path, in the order they begin. */
export function containersOf(spec: PodSpec, at: FieldPath = FieldPath.root()): PlacedContainer[] {
  const found: PlacedContainer[] = [];
  for (const list of CONTAINER_LISTS)
    for (const [path, container] of at.field(list).each<Container | EphemeralContainer>(spec[list]))
      found.push({ container, at: path });
  return found;
}
