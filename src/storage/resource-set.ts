import type { GroupResource } from '../api/names.ts';

/** Some of all resources, those to come included. */
export interface ResourceSet {
  /** `only`: these and no others; `except`: all but these. */
  readonly kind: 'only' | 'except';
  readonly resources: readonly GroupResource[];
}

export const ALL_RESOURCES: ResourceSet = { kind: 'except', resources: [] };

export const includes = ({ kind, resources }: ResourceSet, { group, resource }: GroupResource): boolean =>
  resources.some((one) => one.group === group && one.resource === resource) === (kind === 'only');

/** Those of a set that are not among the resources; undefined for all. */
export function without(
  set: ResourceSet | undefined,
  resources: readonly GroupResource[],
): ResourceSet | undefined {
  if (resources.length === 0) return set;
  if (set?.kind !== 'only') return { kind: 'except', resources: [...(set?.resources ?? []), ...resources] };
  const others: ResourceSet = { kind: 'except', resources };
  return { kind: 'only', resources: set.resources.filter((one) => includes(others, one)) };
}

/** Those of the resources that are in a set; undefined for all. */
export const within = (set: ResourceSet | undefined, resources: readonly GroupResource[]): ResourceSet => ({
  kind: 'only',
  resources: resources.filter((one) => set === undefined || includes(set, one)),
});
