import type { Affinity, Container, Pod, PodSpec } from '../../../api/types/core/v1.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { qosClass } from '../../../object/pod-qos.ts';
import type { Quantity } from '../../../object/quantity.ts';
import { addLists, type ResourceList, toResourceList } from '../../../object/resource-list.ts';
import { isExtendedResource, isHugePages, isNativeResource } from '../../../object/resource-names.ts';
import { podResources, resourcesOf } from '../../plugins/pod-resources.ts';
import { PODS } from '../../resources.ts';
import { countName, type Measure, ONE } from '../measure.ts';
import type { ScopeSelector } from '../quota.ts';

const COUNT = countName(PODS);
const COMPUTE = ['cpu', 'memory', 'ephemeral-storage'];
const NAMES: ReadonlySet<string> = new Set([
  COUNT,
  'pods',
  ...COMPUTE,
  ...COMPUTE.flatMap((name) => [`requests.${name}`, `limits.${name}`]),
]);

/** Where these are limited every container must say what it wants of them. It was so once, and has to stay so. */
const MUST_BE_SAID: ReadonlySet<string> = new Set(
  ['cpu', 'memory'].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);

/** Pods and what they ask for, until they have ended. */
export const measurePods: Measure<Pod> = {
  resource: PODS,
  operations: ['CREATE'],
  mayHaveShrunk: (fields) => ['Succeeded', 'Failed'].includes(fields['status.phase'] ?? ''),
  counts: (name) =>
    NAMES.has(name) ||
    isHugePages(name) ||
    (name.startsWith('requests.') && (isHugePages(name.slice(9)) || !isNativeResource(name))),
  usage: (pod, now) => {
    const usage = new Map([[COUNT, ONE]]);
    if (hasEnded(pod, now)) return usage;
    const { spec = {} } = pod;
    const overhead = toResourceList(spec.overhead);
    const requests = addLists(podResources(spec, 'requests'), overhead);
    const limits = podResources(spec, 'limits');
    return addLists(usage, computeUsage(requests, addOverhead(limits, overhead)));
  },
  missing: (names, { spec }) => {
    const required = names.filter((name) => MUST_BE_SAID.has(name));
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

/** What is limited can only be exceeded by the overhead; what is not stays without a limit. */
function addOverhead(limits: ResourceList, overhead: ResourceList): ResourceList {
  return addLists(limits, new Map([...overhead].filter(([name]) => (limits.get(name)?.nanos ?? 0n) > 0n)));
}

function computeUsage(requests: ResourceList, limits: ResourceList): ResourceList {
  const usage = new Map<string, Quantity>([['pods', ONE]]);
  for (const [name, request] of requests) {
    const isCompute = COMPUTE.includes(name);
    if (isCompute || isHugePages(name)) usage.set(name, request);
    if (isCompute || isHugePages(name) || isExtendedResource(name)) usage.set(`requests.${name}`, request);
  }
  for (const [name, limit] of limits) if (COMPUTE.includes(name)) usage.set(`limits.${name}`, limit);
  return usage;
}

/** Or should have by now: what is stuck on a lost node must not keep others from being started. */
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

/** It ends by itself. */
const isBounded = ({ activeDeadlineSeconds }: PodSpec): boolean =>
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
