/**
 * Names of things in the API: groups, versions, kinds, resources.
 *
 * Inside the server every group carries its canonical name, which ends in `.k8s.io` where it has a domain.
 * The other dialect (`.cluster.io`) exists at the edge only; see api/dialect.ts.
 */

/** A resource type independent of version. `group` is '' for the core group. Example: { group: 'apps', resource: 'deployments' } */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

declare const OBJECT_TYPE: unique symbol;

/**
 * A resource with stored objects of type `T`: a read by it is typed. Only the compiler knows of the type.
 * Example: `const PODS: ResourceOf<Pod> = { group: '', resource: 'pods' }`
 */
export interface ResourceOf<T> extends GroupResource {
  readonly [OBJECT_TYPE]?: T;
}

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** `apps/v1` for a named group, `v1` for the core group. */
export function toApiVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `apps/deployments`, `/pods`: the key of a resource in maps. */
export function toResourceKey({ group, resource }: GroupResource): string {
  return `${group}/${resource}`;
}

/** How messages name a resource: `pods`, `deployments.apps`. */
export function toQualifiedResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** `deployments.apps` → deployments of apps; `pods` → pods of the core group. */
export function parseQualifiedResource(text: string): GroupResource {
  const dot = text.indexOf('.');
  return dot < 0
    ? { group: '', resource: text }
    : { group: text.slice(dot + 1), resource: text.slice(0, dot) };
}
