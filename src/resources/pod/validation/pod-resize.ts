import type {
  Container,
  ContainerStatus,
  Pod,
  PodSpec,
  ResourceRequirements,
} from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { isSidecar, statesResources } from '../../../object/pod-resources.ts';
import { keepsQosClass } from '../../../object/pod-spec.ts';
import { toResourceList } from '../../../object/resource-list.ts';
import { isMirrorPod } from './annotations.ts';

/** What a resize may change (Kubernetes: core/validation, ValidatePodResize). */
export function validatePodResize(root: FieldPath, pod: Pod, old: Pod): void {
  const why = whyNever(root, pod, old);
  if (why !== undefined) {
    root.whole.forbidden(why);
    return;
  }
  const at = root.field('spec');
  const { spec = {}, status = {} } = pod;
  const before = old.spec ?? {};
  const isWhole = statesResources(spec) || statesResources(before);
  if (!keepsQosClass(spec, old))
    at.invalid(status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
  if (!isResizable(old.status?.containerStatuses ?? []))
    at.forbidden('Pod running on node without support for resize');
  if (isWhole && !root.isOn(WHOLE)) {
    root.whole.forbidden(
      'resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled',
    );
    return;
  }
  if (isWhole) validateWhole(at, pod, old);
  if ((old.status?.nodeAllocatableResourceClaimStatuses ?? []).length > 0)
    at.forbidden('pods with node allocatable resource claims cannot be resized');
  if (!hasSameContainers(at, spec, before)) return;
  validateInitContainers(at, spec.initContainers ?? [], before.initContainers ?? []);
  for (const [path, container, index] of at.field('containers').each(spec.containers)) {
    const resized: Resized = { container, before: before.containers?.[index] ?? {} };
    validateValues(path, resized);
    if (!isResizeAlone(at, resized)) at.forbidden('only cpu and memory resources are mutable');
  }
}

/** Why no resize of the pod is possible; undefined: it is. */
function whyNever(root: FieldPath, { spec = {} }: Pod, old: Pod): string | undefined {
  if (root.minor < 35 && (statesResources(spec) || statesResources(old.spec ?? {})))
    return 'pods with pod-level resources cannot be resized';
  if (isMirrorPod(old.metadata.annotations ?? {})) return 'static pods cannot be resized';
  if (old.spec?.os?.name === 'windows') return 'windows pods cannot be resized';
  return undefined;
}

/** A node agent that can resize reports what a running container has. Without running containers it may well be one. */
function isResizable(statuses: readonly ContainerStatus[]): boolean {
  const running = statuses.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

/** The feature, since 1.35, by which a pod as a whole can be resized. */
const WHOLE = 'InPlacePodLevelResourcesVerticalScaling';

const LISTS = ['containers', 'initContainers'] as const;

/** Reports containers that came, went or have other names: what else is wrong with them is of no interest then. */
function hasSameContainers(at: FieldPath, spec: PodSpec, before: PodSpec): boolean {
  const found = at.found;
  for (const list of LISTS) {
    const path = at.field(list);
    const [now, old] = [spec[list] ?? [], before[list] ?? []];
    if (now.length !== old.length) {
      path.forbidden(`${list} may not be added or removed on resize`);
      continue;
    }
    for (const [item, { name }, index] of path.each(now))
      if (name !== old[index]?.name)
        item.field('name').forbidden(`${list} may not be renamed or reordered on resize`);
  }
  return at.found === found;
}

/** What the pod states for all of its containers together. */
function validateWhole(at: FieldPath, { spec }: Pod, old: Pod): void {
  const path = at.field('resources');
  const after = spec?.resources;
  const before = old.spec?.resources;
  if (before !== undefined && after === undefined) {
    path.forbidden('pod-level resources cannot be removed');
    return;
  }
  refuseRemoval(path, { kind: 'pod-level resource', after: after ?? {}, before: before ?? {} });
  if (!equal(unresized(after ?? {}), unresized(before ?? {})))
    at.forbidden('only cpu and memory resources are mutable at pod-level');
}

function validateInitContainers(
  at: FieldPath,
  containers: readonly Container[],
  before: readonly Container[],
): void {
  const resizesAll = at.isOn('InPlacePodVerticalScalingInitContainers');
  for (const [path, container, index] of at.field('initContainers').each(containers)) {
    const resized: Resized = { container, before: before[index] ?? {} };
    if (resizesAll || (isSidecar(container) && at.minor >= 36)) validateInitContainer(path, resized);
    else if (isSidecar(container)) {
      validateValues(path, resized);
      if (!isResizeAlone(at, resized))
        at.forbidden('only cpu and memory resources for sidecar containers are mutable');
    } else if (!equal(container, before[index]))
      at.forbidden('resources for non-sidecar init containers are immutable');
  }
}

/** An init container of any kind. One that ends cannot be started again for its resources. */
function validateInitContainer(at: FieldPath, resized: Resized): void {
  const { container, before } = resized;
  validateValues(at, resized);
  if (!isResizeAlone(at, resized))
    at.forbidden('only cpu and memory resources for init or sidecar containers are mutable');
  if (isSidecar(container) || equal(container, before)) return;
  for (const { restartPolicy } of container.resizePolicy ?? [])
    if (restartPolicy === 'RestartContainer')
      at.forbidden('non-sidecar init containers with a resize policy of RestartContainer cannot be resized');
}

interface Resized {
  readonly container: Container;
  readonly before: Container;
}

/** `at` is the container. */
function validateValues(at: FieldPath, { container, before }: Resized): void {
  const path = at.field('resources');
  const after = container.resources ?? {};
  refuseRemoval(path, { kind: 'resource', after, before: before.resources ?? {} });
  if (at.minor === 33) refuseTighterMemory(path, container, before);
}

/**
 * Whether nothing but what a resize may change is another. A container with devices of claims has none of it. Before 1.35 a list that
 * the container did not have may come with anything.
 */
function isResizeAlone(at: FieldPath, { container, before }: Resized): boolean {
  const { claims: _, ...after } = unresized(container.resources ?? {});
  const old = before.resources ?? {};
  const isNew = (list: 'requests' | 'limits'): boolean => at.minor < 35 && old[list] === undefined;
  const requests = isNew('requests') ? {} : after.requests;
  const limits = isNew('limits') ? {} : after.limits;
  return (
    equal({ ...container, resources: undefined }, { ...before, resources: undefined }) &&
    equal({ requests, limits, claims: [] }, unresized(old))
  );
}

/** The resources without what a resize may change. */
function unresized({ requests, limits, claims = [] }: ResourceRequirements) {
  const rest = ({ cpu: _, memory: __, ...others }: Readonly<Record<string, string>> = {}) => others;
  return { requests: rest(requests), limits: rest(limits), claims };
}

interface Removal {
  /** What the message calls it. */
  readonly kind: string;
  readonly after: ResourceRequirements;
  readonly before: ResourceRequirements;
}

function refuseRemoval(at: FieldPath, { kind, after, before }: Removal): void {
  for (const list of ['requests', 'limits'] as const) {
    const isRemoved = Object.keys(before[list] ?? {}).some((name) => after[list]?.[name] === undefined);
    if (isRemoved) at.field(list).forbidden(`${kind} ${list} cannot be removed`);
  }
}

/** 1.33 takes memory from a container only if the container is started again. */
function refuseTighterMemory(at: FieldPath, { resources, resizePolicy }: Container, before: Container): void {
  const policy = resizePolicy?.find(({ resourceName }) => resourceName === 'memory')?.restartPolicy;
  if ((policy ?? 'NotRequired') !== 'NotRequired') return;
  const after = toResourceList(resources?.limits).get('memory');
  const old = toResourceList(before.resources?.limits).get('memory');
  const change =
    after !== undefined && old === undefined
      ? 'added'
      : after !== undefined && old !== undefined && after.nanos < old.nanos
        ? 'decreased'
        : undefined;
  if (change !== undefined)
    at.field('limits')
      .item('memory')
      .forbidden(`memory limits cannot be ${change} unless resizePolicy is RestartContainer`);
}
