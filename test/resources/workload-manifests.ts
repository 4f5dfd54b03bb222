import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { created } from '../kit/manifests.ts';

/** Manifests that tests of workloads begin with, and writes that the kit has no function for. */

export const podSpec = { containers: [{ name: 'main', image: 'web:1' }] };
export const template = { metadata: { labels: { app: 'web' } }, spec: podSpec };
export const selector = { matchLabels: { app: 'web' } };

/** What writing `status` over the object made of `before` answers. */
export function problemsOnStatus(
  definition: ResourceDefinition,
  before: JsonObject,
  status: JsonObject,
): string[] {
  const old = {
    ...created(definition, before),
    ...(before.status === undefined ? {} : { status: before.status }),
  };
  const view = definition.subresources.find(({ name }) => name === 'status');
  if (view?.access !== 'view') throw new Error(`${definition.resource} has no status`);
  const next = view.write({ ...old, status }, old);
  return (view.validate?.(next, old) ?? []).map(({ field, message }) => `${field}: ${message}`).sort();
}

/** What replacing `old` by `after` would store. */
export function replaced(definition: ResourceDefinition, old: ApiObject, after: JsonObject): ApiObject {
  const object = created(definition, after);
  definition.strategy.prepareForUpdate?.(object, old);
  return object;
}
