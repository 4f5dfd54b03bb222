import { CLAIMS, PODS, SERVICES } from '../../api/known-resources.ts';
import { type GroupResource, type ResourceOf, toQualifiedResource } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type {
  Affinity,
  Container,
  PersistentVolumeClaim,
  Pod,
  PodSpec,
  ResourceQuota,
  ScopedResourceSelectorRequirement,
  Service,
} from '../../api/types/core/v1.ts';
import type { DeviceRequest, ExactDeviceRequest, ResourceClaim } from '../../api/types/resource/stored.ts';
import { heldResources, resourcesOf, statesResources } from '../../object/pod-resources.ts';
import { qosClass } from '../../object/pod-spec.ts';
import { parseQuantity, type Quantity } from '../../object/quantity.ts';
import {
  addLists,
  addTo,
  type GrowingList,
  isExtendedResource,
  isHugePages,
  isNativeResource,
  NOTHING,
  type ResourceList,
  raiseTo,
  toResourceList,
} from '../../object/resource-list.ts';
import { matchesLabels } from '../../object/selectors.ts';
import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import type { AdmissionOperation } from '../admission.ts';
import { storageClassOf } from '../plugins/storage-plugins.ts';

/** A ResourceQuota as it is enforced: by its status, into which a controller copies the spec together with the usage. */
export interface Quota {
  readonly name: string;
  readonly hard: ResourceList;
  readonly used: ResourceList;
  /** All must hold for an object to be counted. */
  readonly scopes: readonly ScopeSelector[];
}

export interface ScopeSelector {
  readonly scope: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export const toQuota = (quota: ResourceQuota): Quota => ({
  name: quota.metadata.name ?? '',
  hard: toResourceList(quota.status?.hard),
  used: toResourceList(quota.status?.used),
  scopes: scopesOf(quota),
});

export function scopesOf({ spec = {} }: ResourceQuota): ScopeSelector[] {
  const { scopes = [], scopeSelector } = spec;
  return [
    ...scopes.map((scope) => ({ scope, operator: 'Exists', values: [] })),
    ...toScopeSelectors(scopeSelector?.matchExpressions ?? []),
  ];
}

export const toScopeSelectors = (
  expressions: readonly ScopedResourceSelectorRequirement[],
): ScopeSelector[] =>
  expressions.map(({ scopeName: scope = '', operator = '', values = [] }) => ({ scope, operator, values }));

/** The amounts of these names alone. */
export function only(list: ResourceList, isWanted: (name: string) => boolean): ResourceList {
  const entries = [...list].filter(([name]) => isWanted(name));
  return entries.length === 0 ? NOTHING : new Map(entries);
}

/** Measures the objects of one resource, which are of type `T` (Kubernetes: apiserver/pkg/quota/v1, pkg/quota/v1/evaluator). */
export interface Measure<T extends ApiObject = ApiObject> {
  readonly resource: ResourceOf<T>;
  readonly operations: readonly AdmissionOperation[];
  /** Whether a limit of this name concerns these objects. */
  counts(name: string): boolean;
  usage(object: T, now: Date): ResourceList;
  /** Whether an object that was changed may use less than before, by its values for field selectors. Absent: never. */
  mayHaveShrunk?(fields: Readonly<Record<string, string>>): boolean;
  /** The amounts that an object lacks when these names are limited; undefined for none. */
  missing?(names: readonly string[], object: T): string | undefined;
  /** Absent: scopes do not apply to the resource. */
  isInScope?(selector: ScopeSelector, object: T): boolean;
}

/** `count/deployments.apps`, `count/pods`. */
const countName = (resource: GroupResource): string => `count/${toQualifiedResource(resource)}`;

const amount = (count: number): Quantity =>
  parseQuantity(String(count)) ?? { nanos: 0n, format: 'DecimalSI' };

const ONE = amount(1);
export const ZERO = amount(0);

const POD_COUNT = countName(PODS);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const POD_NAMES: ReadonlySet<string> = new Set([
  POD_COUNT,
  'pods',
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

/**
 * When these are limited every container must state its amount, for compatibility with the first quotas. A pod that states
 * resources for all of its containers need not, whichever they are.
 */
const REQUIRED_AMOUNTS: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);

/** Pods and their requests and limits, until they have ended. */
const measurePods: Measure<Pod> = {
  resource: PODS,
  operations: ['CREATE'],
  mayHaveShrunk: (fields) => ['Succeeded', 'Failed'].includes(fields['status.phase'] ?? ''),
  counts: (name) =>
    POD_NAMES.has(name) ||
    isHugePages(name) ||
    (name.startsWith('requests.') &&
      (isHugePages(name.slice(9)) || isDevices(name.slice(9)) || !isNativeResource(name))),
  usage: (pod, now) => {
    const usage = new Map([[POD_COUNT, ONE]]);
    if (hasEnded(pod, now)) return usage;
    const { spec = {} } = pod;
    const overhead = toResourceList(spec.overhead);
    const requests = addLists(heldResources(pod, 'requests'), overhead);
    const limits = heldResources(pod, 'limits');
    return addLists(usage, computeUsage(requests, addOverhead(limits, overhead)));
  },
  missing: (names, { spec }) => {
    if (statesResources(spec ?? {})) return undefined;
    const required = names.filter((name) => REQUIRED_AMOUNTS.has(name));
    const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])];
    const silent = required.sort().flatMap((name) => {
      const those = containers.filter((container) => !says(container, name));
      return those.length === 0 ? [] : [`${name} for: ${namesOf(those)}`];
    });
    return silent.length === 0 ? undefined : `must specify ${silent.join('; ')}`;
  },
  isInScope,
};

const says = (container: Container, name: string): boolean =>
  computeUsage(resourcesOf(container, 'requests'), resourcesOf(container, 'limits')).has(name);

const namesOf = (containers: readonly Container[]): string =>
  [...new Set(containers.map(({ name = '' }) => name))].sort().join(',');

/** Adds the overhead to resources that have a limit; the others stay without one. */
function addOverhead(limits: ResourceList, overhead: ResourceList): ResourceList {
  return addLists(limits, new Map([...overhead].filter(([name]) => (limits.get(name)?.nanos ?? 0n) > 0n)));
}

/** Devices of a class that a pod asks for without a claim: `deviceclass.resource.kubernetes.io/gpu`. */
const isDevices = (name: string): boolean => name.startsWith('deviceclass.resource.kubernetes.io/');

function computeUsage(requests: ResourceList, limits: ResourceList): ResourceList {
  const usage = new Map<string, Quantity>([['pods', ONE]]);
  for (const [name, request] of requests) {
    const isCompute = COMPUTE.includes(name);
    if (isCompute || isHugePages(name)) usage.set(name, request);
    if (isCompute || isHugePages(name) || isExtendedResource(name) || isDevices(name))
      usage.set(`requests.${name}`, request);
  }
  for (const [name, limit] of limits) if (COMPUTE.includes(name)) usage.set(`limits.${name}`, limit);
  return usage;
}

/** Also true for a pod that should have ended by now: a pod that is stuck on a lost node must not use up the quota. */
function hasEnded({ metadata, status }: Pod, now: Date): boolean {
  if (status?.phase === 'Failed' || status?.phase === 'Succeeded') return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return now.getTime() > Date.parse(deletionTimestamp) + Number(deletionGracePeriodSeconds) * 1000;
}

function isInScope(selector: ScopeSelector, { spec = {} }: Pod): boolean {
  switch (selector.scope) {
    case 'Terminating':
      return isBounded(spec);
    case 'NotTerminating':
      return !isBounded(spec);
    case 'BestEffort':
      return qosClass(spec) === 'BestEffort';
    case 'NotBestEffort':
      return qosClass(spec) !== 'BestEffort';
    case 'PriorityClass':
      return hasPriorityClass(selector, spec.priorityClassName ?? '');
    case 'CrossNamespacePodAffinity':
      return looksAcrossNamespaces(spec.affinity);
    default:
      return false;
  }
}

/** Whether the pod ends by itself. */
export const isBounded = ({ activeDeadlineSeconds }: PodSpec = {}): boolean =>
  activeDeadlineSeconds !== undefined && activeDeadlineSeconds >= 0;

function hasPriorityClass({ scope, operator, values }: ScopeSelector, name: string): boolean {
  if (!isOperator(operator)) return false;
  return matchesLabels([{ key: scope, operator, values }], name === '' ? {} : { [scope]: name });
}

const isOperator = (text: string): text is 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' =>
  ['In', 'NotIn', 'Exists', 'DoesNotExist'].includes(text);

const looksAcrossNamespaces = ({ podAffinity, podAntiAffinity }: Affinity = {}): boolean =>
  [podAffinity, podAntiAffinity].some((affinity) => {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: hard = [],
      preferredDuringSchedulingIgnoredDuringExecution: soft = [],
    } = affinity ?? {};
    const terms = [...hard, ...soft.map(({ podAffinityTerm = {} }) => podAffinityTerm)];
    return terms.some(
      ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
    );
  });

const SERVICE_COUNT = countName(SERVICES);
const SERVICE_NAMES = [SERVICE_COUNT, 'services', 'services.nodeports', 'services.loadbalancers'];

/** Services, the node ports that they have or will get, and load balancers. */
const measureServices: Measure<Service> = {
  resource: SERVICES,
  operations: ['CREATE', 'UPDATE'],
  mayHaveShrunk: () => true,
  counts: (name) => SERVICE_NAMES.includes(name),
  usage: ({ spec = {} }) => {
    const { type, ports = [], allocateLoadBalancerNodePorts } = spec;
    const isBalanced = type === 'LoadBalancer';
    const takesPorts = type === 'NodePort' || isBalanced;
    // Without automatic node ports, only requested ones count.
    const isAsked = isBalanced && allocateLoadBalancerNodePorts === false;
    const taken = isAsked ? ports.filter(({ nodePort = 0 }) => nodePort !== 0) : ports;
    return new Map([
      [SERVICE_COUNT, ONE],
      ['services', ONE],
      ['services.nodeports', takesPorts ? amount(taken.length) : ZERO],
      ['services.loadbalancers', isBalanced ? ONE : ZERO],
    ]);
  },
};

const CLAIM_COUNT = countName(CLAIMS);
const CLAIM = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
const OF_CLASS = '.storageclass.storage.k8s.io/';
const WHOLE = 1_000_000_000n;

/** Claims and their storage, in total and by storage class: `gold.storageclass.storage.k8s.io/requests.storage`. */
const measureClaims: Measure<PersistentVolumeClaim> = {
  resource: CLAIMS,
  operations: ['CREATE', 'UPDATE'],
  mayHaveShrunk: () => true,
  counts: (name) =>
    name === CLAIM_COUNT ||
    [CLAIM, STORAGE].some((own) => name === own || name.endsWith(`${OF_CLASS}${own}`)),
  usage: (claim) => {
    const usage = new Map<string, Quantity>([
      [CLAIM, ONE],
      [CLAIM_COUNT, ONE],
    ]);
    const storageClass = storageClassOf(claim);
    const storage = storageOf(claim);
    if (storage !== undefined) usage.set(STORAGE, storage);
    if (storageClass === '') return usage;
    usage.set(`${storageClass}${OF_CLASS}${CLAIM}`, ONE);
    if (storage !== undefined) usage.set(`${storageClass}${OF_CLASS}${STORAGE}`, storage);
    return usage;
  },
  isInScope: (selector, claim) =>
    selector.scope === 'VolumeAttributesClass' && hasAttributesClass(selector, claim),
};

/** A claim whose class changes has the old and the new one until the change is done. */
function hasAttributesClass(
  { scope, operator, values }: ScopeSelector,
  { spec = {}, status = {} }: PersistentVolumeClaim,
): boolean {
  if (!isOperator(operator)) return false;
  const names = [
    spec.volumeAttributesClassName,
    status.currentVolumeAttributesClassName,
    status.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ].filter((name) => name !== undefined && name !== '');
  const requirements = [{ key: scope, operator, values }];
  if (names.length === 0) return matchesLabels(requirements, {});
  return names.some((name) => matchesLabels(requirements, { [scope]: name ?? '' }));
}

/** Also what is still allocated after the request was made smaller. Rounded up to whole bytes, as the numbers of quotas are. */
function storageOf({ spec, status }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec?.resources?.requests?.storage;
  const quantity = asked === undefined ? undefined : parseQuantity(asked);
  if (quantity === undefined) return undefined;
  const allocated = parseQuantity(status?.allocatedResources?.storage ?? '');
  const { nanos, format } =
    allocated !== undefined && allocated.nanos > quantity.nanos ? allocated : quantity;
  return { nanos: nanos % WHOLE === 0n ? nanos : (nanos / WHOLE + 1n) * WHOLE, format };
}

const DEVICE_CLAIMS: ResourceOf<ResourceClaim> = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const DEVICE_CLAIM_COUNT = countName(DEVICE_CLAIMS);
const DEVICES_OF_CLASS = '.deviceclass.resource.k8s.io/devices';
/** As many devices as one claim can get. */
const MOST_DEVICES = 32;

/** Claims of devices, and their devices by class: `gpu.deviceclass.resource.k8s.io/devices`. */
const measureDeviceClaims: Measure<ResourceClaim> = {
  resource: DEVICE_CLAIMS,
  operations: ['CREATE', 'UPDATE'],
  counts: (name) => name === DEVICE_CLAIM_COUNT || name.endsWith(DEVICES_OF_CLASS),
  usage: ({ spec }) => {
    const usage = new Map([[DEVICE_CLAIM_COUNT, ONE]]);
    for (const request of spec?.devices?.requests ?? []) addTo(usage, devicesOf(request));
    return usage;
  },
};

/** Of the alternatives of a request, the most of each class. In 1.31 the request itself is the one alternative. */
function devicesOf(request: DeviceRequest): ResourceList {
  const { firstAvailable = [], exactly = request as ExactDeviceRequest } = request;
  const most: GrowingList = new Map();
  for (const one of firstAvailable.length > 0 ? firstAvailable : [exactly]) raiseTo(most, devicesOfOne(one));
  return most;
}

function devicesOfOne({ deviceClassName = '', allocationMode, count = 0 }: ExactDeviceRequest): ResourceList {
  const exact = allocationMode === 'ExactCount' ? Number(count) : 0;
  return new Map([
    [`${deviceClassName}${DEVICES_OF_CLASS}`, amount(allocationMode === 'All' ? MOST_DEVICES : exact)],
  ]);
}

/** Objects that quotas only count. */
function measureCount({ group, resource, quotaName }: ResourceDefinition): Measure {
  const count = countName({ group, resource });
  const names = quotaName === undefined ? [count] : [count, quotaName];
  const usage = new Map(names.map((name) => [name, ONE]));
  return {
    resource: { group, resource },
    operations: ['CREATE'],
    counts: (name) => names.includes(name),
    usage: () => usage,
  };
}

const SPECIAL = [measurePods, measureServices, measureClaims, measureDeviceClaims];

/** Undefined: quotas do not count this resource. */
export function measureOf(definition: ResourceDefinition): Measure | undefined {
  if (!isCounted(definition)) return undefined;
  const { group, resource } = definition;
  const special = SPECIAL.find(
    (measure) => measure.resource.group === group && measure.resource.resource === resource,
  );
  return special ?? measureCount(definition);
}

/** Quotas count neither virtual nor list-only resources, nor events, which expire. */
const isCounted = ({ verbs, strategy }: ResourceDefinition): boolean =>
  verbs.includes('create') && verbs.includes('list') && strategy.expires !== true;
