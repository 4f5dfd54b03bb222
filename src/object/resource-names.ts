import { checkQualifiedName } from './formats.ts';

/** Kinds of resource names (Kubernetes: apis/core/helper). */

const OF_CONTAINERS: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

/** What any container may be given, by the names that nearly all of them use. */
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

/** Someone else's, such as `nvidia.com/gpu`: counted in whole pieces, never shared. */
export const isExtendedResource = (name: string): boolean =>
  !isNativeResource(name) &&
  !name.startsWith('requests.') &&
  checkQualifiedName(`requests.${name}`).length === 0;

export const isIntegerResource = (name: string): boolean => COUNTS.includes(name) || isExtendedResource(name);

/** More can be used than was asked for. */
export const canOvercommit = (name: string): boolean => isNativeResource(name) && !isHugePages(name);
