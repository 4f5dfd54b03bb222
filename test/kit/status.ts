import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition, ViewSubresource } from '../../src/registry/resource-definition.ts';
import { created } from './manifests.ts';

/** Writes of a status through its view, without a server and a database. */

function statusOf({ subresources, resource }: ResourceDefinition): ViewSubresource {
  const view = subresources.find(({ name }) => name === 'status');
  if (view?.access !== 'view') throw new Error(`${resource} has no status`);
  return view;
}

/** The object made of `manifest` after a write of `status`. */
export function withStatus(
  definition: ResourceDefinition,
  manifest: JsonObject,
  status: JsonObject,
): ApiObject {
  const old = created(definition, manifest);
  return statusOf(definition).write({ ...structuredClone(old), status }, old);
}

/** A line for each cause that a write of `status` is refused for; empty when it is good. */
export function problemsOnStatus(
  definition: ResourceDefinition,
  manifest: JsonObject,
  status: JsonObject,
): string[] {
  const errors = statusOf(definition).validate?.(
    withStatus(definition, manifest, status),
    created(definition, manifest),
  );
  return (errors ?? []).map(({ field, message }) => `${field}: ${message}`).sort();
}
