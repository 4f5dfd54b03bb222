import type { Container, ContainerStatus, Pod, PodSpec, ResourceRequirements } from '../api/types/core/v1.ts';
import {
  addLists,
  addTo,
  type GrowingList,
  isHugePages,
  maxLists,
  type ResourceList,
  raiseTo,
  toResourceList,
} from './resource-list.ts';

/** What a pod asks for and may use, as the scheduler counts it (Kubernetes: component-helpers/resource). */

type Kind = 'requests' | 'limits';

/** A container that its state in the status belongs to. */
type Reader = (container: Container) => ResourceList;

export const resourcesOf = ({ resources }: Container, of: Kind): ResourceList =>
  toResourceList(resources?.[of]);

/** An init container that goes on running beside the others. */
export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

/** The most that the containers of a pod ask for together at a time. */
export const containerResources = (spec: PodSpec, of: Kind): ResourceList =>
  together(spec, (container) => resourcesOf(container, of));

/**
 * What a whole pod asks for: what it states itself, and what its containers ask for of the rest. `counts`: which of its own
 * resources count.
 */
export const podResources = (spec: PodSpec, of: Kind, counts = isPodResource): ResourceList =>
  withOwn(containerResources(spec, of), spec.resources?.[of], counts);

/**
 * What a pod takes up while it is being resized: the larger one of what it asks for and what its node has set aside for it. A
 * resize that the node can never carry out takes up nothing.
 */
export function heldResources({ spec = {}, status = {} }: Pod, of: Kind): ResourceList {
  const { containerStatuses = [], initContainerStatuses = [], conditions = [] } = status;
  const known = new Map([...containerStatuses, ...initContainerStatuses].map((one) => [one.name ?? '', one]));
  if (known.size === 0) return podResources(spec, of);
  const isInfeasible = conditions.some(
    ({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible',
  );
  const held = together(spec, (container) => {
    const asked = resourcesOf(container, of);
    const reported = reportedBy(known.get(container.name ?? ''), of);
    if (reported === undefined) return asked;
    return isInfeasible ? reported : maxLists(asked, reported);
  });
  return withOwn(held, spec.resources?.[of]);
}

function reportedBy(status: ContainerStatus | undefined, of: Kind): ResourceList | undefined {
  const actual = status?.resources?.[of];
  const allocated = of === 'requests' ? status?.allocatedResources : undefined;
  if (actual === undefined && allocated === undefined) return undefined;
  return maxLists(toResourceList(actual), toResourceList(allocated));
}

function together({ containers, initContainers }: PodSpec, read: Reader): ResourceList {
  const running: GrowingList = new Map();
  for (const container of containers ?? []) addTo(running, read(container));
  // Sidecars go on running beside the others; the rest run one after the other, before the containers.
  const sidecars: GrowingList = new Map();
  const most: GrowingList = new Map();
  for (const container of initContainers ?? []) {
    const own = read(container);
    if (isSidecar(container)) {
      addTo(running, own);
      addTo(sidecars, own);
      raiseTo(most, ofNamesIn(own, sidecars));
    } else {
      raiseTo(most, addLists(own, ofNamesIn(own, sidecars)));
    }
  }
  raiseTo(running, most);
  return running;
}

/** What `list` has of the names of another one. */
function ofNamesIn(names: ResourceList, list: ResourceList): ResourceList {
  const found: GrowingList = new Map();
  for (const name of names.keys()) {
    const quantity = list.get(name);
    if (quantity !== undefined) found.set(name, quantity);
  }
  return found;
}

function withOwn(
  ofContainers: ResourceList,
  own: Readonly<Record<string, string>> | undefined,
  counts = isPodResource,
): ResourceList {
  if (own === undefined) return ofContainers;
  const stated = [...toResourceList(own)].filter(([name]) => counts(name));
  return stated.length === 0 ? ofContainers : new Map([...ofContainers, ...stated]);
}

/** Resources that a pod can state for all of its containers together. */
export const isPodResource = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name);

/** Whether a pod states resources for all of its containers together. */
export const statesResources = ({ resources }: PodSpec): boolean =>
  resources !== undefined && namesIn(resources).some(isPodResource);

const namesIn = ({ requests = {}, limits = {} }: ResourceRequirements): string[] => [
  ...Object.keys(requests),
  ...Object.keys(limits),
];
