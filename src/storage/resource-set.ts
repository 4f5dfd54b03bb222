import type { GroupResource } from '../api/names.ts';

/** A set of resources, future ones included. */
export interface ResourceSet {
  /** `only`: these and no others; `except`: all but these. */
  readonly kind: 'only' | 'except';
  readonly resources: readonly GroupResource[];
}

export const ALL_RESOURCES: ResourceSet = { kind: 'except', resources: [] };

export const includes = ({ kind, resources }: ResourceSet, { group, resource }: GroupResource): boolean =>
  resources.some((one) => one.group === group && one.resource === resource) === (kind === 'only');

/** Returns a set without the resources; undefined stands for all. */
export function without(
  set: ResourceSet | undefined,
  resources: readonly GroupResource[],
): ResourceSet | undefined {
  if (resources.length === 0) return set;
  if (set?.kind !== 'only') return { kind: 'except', resources: [...(set?.resources ?? []), ...resources] };
  const others: ResourceSet = { kind: 'except', resources };
  return { kind: 'only', resources: set.resources.filter((one) => includes(others, one)) };
}

/** Returns the resources that are in a set; undefined stands for all. */
export const within = (set: ResourceSet | undefined, resources: readonly GroupResource[]): ResourceSet => ({
  kind: 'only',
  resources: resources.filter((one) => set === undefined || includes(set, one)),
});
