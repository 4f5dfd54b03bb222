import { formatQuantity, parseQuantity, type Quantity } from './quantity.ts';
import { checkQualifiedName } from './text-formats.ts';

/** Amounts by resource name, as in `requests` and `limits`. */
export type ResourceList = ReadonlyMap<string, Quantity>;

export const NOTHING: ResourceList = new Map();

/** Leaves out invalid quantities. */
export function toResourceList(list: Readonly<Record<string, string>> = {}): ResourceList {
  const entries: [string, Quantity][] = [];
  for (const name of Object.keys(list)) {
    const quantity = parseQuantity(list[name] ?? '');
    if (quantity !== undefined) entries.push([name, quantity]);
  }
  return entries.length === 0 ? NOTHING : new Map(entries);
}

export const fromResourceList = (list: ResourceList): Record<string, string> =>
  Object.fromEntries([...list].map(([name, quantity]) => [name, formatQuantity(quantity)]));

/** The sum keeps the format of `a`, as in Kubernetes. */
const sum = (a: Quantity, b: Quantity): Quantity => ({
  nanos: a.nanos + b.nanos,
  format: a.nanos === 0n ? b.format : a.format,
});

const larger = (a: Quantity, b: Quantity): Quantity => (b.nanos > a.nanos ? b : a);

export const addLists = (a: ResourceList, b: ResourceList): ResourceList => merge(a, b, addTo);
export const maxLists = (a: ResourceList, b: ResourceList): ResourceList => merge(a, b, raiseTo);

/** A list that others are put into. To make a new one for each of very many takes long. */
export type GrowingList = Map<string, Quantity>;

export const addTo = (list: GrowingList, more: ResourceList): void => mergeInto(list, more, sum);
export const raiseTo = (list: GrowingList, more: ResourceList): void => mergeInto(list, more, larger);

function merge(
  a: ResourceList,
  b: ResourceList,
  into: (list: GrowingList, more: ResourceList) => void,
): ResourceList {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  const merged = new Map(a);
  into(merged, b);
  return merged;
}

function mergeInto(
  list: GrowingList,
  more: ResourceList,
  both: (held: Quantity, more: Quantity) => Quantity,
): void {
  for (const [name, quantity] of more) {
    const held = list.get(name);
    list.set(name, held === undefined ? quantity : both(held, quantity));
  }
}

/** Kinds of resource names (Kubernetes: apis/core/helper). */

const OF_CONTAINERS: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** Resources that every container may request, under their usual names. */
export const isOfEveryContainer = (name: string): boolean => OF_CONTAINERS.has(name);

/** Countable objects, in quotas. */
const COUNTS = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];

const STANDARD: ReadonlySet<string> = new Set([
  ...OF_CONTAINERS,
  ...['requests', 'limits'].flatMap((prefix) => [...OF_CONTAINERS].map((name) => `${prefix}.${name}`)),
  ...COUNTS,
  'storage',
  'requests.storage',
]);

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

export const isStandardResource = (name: string): boolean =>
  STANDARD.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');

export const isStandardContainerResource = (name: string): boolean =>
  OF_CONTAINERS.has(name) || isHugePages(name);

/** Kubernetes' own: `cpu`, `kubernetes.io/x`. */
export const isNativeResource = (name: string): boolean =>
  !name.includes('/') || name.includes('kubernetes.io/');

/** A vendor's, such as `nvidia.com/gpu`: counted in whole pieces, never shared. */
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) &&
  !name.startsWith('requests.') &&
  checkQualifiedName(`requests.${name}`).length === 0;

export const isIntegerResource = (name: string): boolean => COUNTS.includes(name) || isExtendedResource(name);

/** A limit may exceed its request. */
export const canOvercommit = (name: string): boolean => isNativeResource(name) && !isHugePages(name);
