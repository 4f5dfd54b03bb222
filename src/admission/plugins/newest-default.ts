import type { ApiObject } from '../../api/object-meta.ts';

/** Of the classes that an annotation makes the default, the one made last; of those made at once, the first by name. */
export function newestDefault(
  classes: readonly ApiObject[],
  annotations: readonly string[],
): string | undefined {
  const isDefault = ({ metadata }: ApiObject): boolean =>
    annotations.some((name) => metadata.annotations?.[name] === 'true');
  const madeAt = ({ metadata }: ApiObject): number => Date.parse(metadata.creationTimestamp ?? '');
  const nameOf = ({ metadata }: ApiObject): string => metadata.name ?? '';
  const [newest] = classes
    .filter(isDefault)
    .sort((a, b) => madeAt(b) - madeAt(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
  return newest === undefined ? undefined : nameOf(newest);
}
