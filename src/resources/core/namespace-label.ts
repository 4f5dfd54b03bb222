import type { ApiObject } from '../../api/object-meta.ts';

/** Every namespace can be selected by its name, and by that name only. */
export function labelWithName({ metadata }: ApiObject): void {
  const name = metadata.name ?? '';
  if (name !== '') metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': name };
}
