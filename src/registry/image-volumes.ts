import type { JsonObject, JsonValue } from '../api/object-meta.ts';
import { isObject } from '../object/merge-patch.ts';

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers'];

/** Volumes of images go whole, and their mounts with them: a volume without a source would be refused. */
export function dropImageVolumes(podSpec: JsonObject): void {
  const volumes = objects(podSpec.volumes);
  const names = new Set(volumes.filter(({ image }) => image !== undefined).map(({ name }) => name));
  podSpec.volumes = volumes.filter(({ image }) => image === undefined);
  for (const container of CONTAINERS.flatMap((list) => objects(podSpec[list]))) {
    if (container.volumeMounts === undefined) continue;
    container.volumeMounts = objects(container.volumeMounts).filter(({ name }) => !names.has(name));
  }
}

const objects = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
