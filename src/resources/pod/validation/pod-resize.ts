import type { Container, ContainerStatus, Pod, ResourceRequirements } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { isSidecar, statesResources } from '../../../object/pod-resources.ts';
import { qosClass } from '../../../object/pod-spec.ts';
import { toResourceList } from '../../../object/resource-list.ts';
import { DEFAULT_MINOR } from '../../../version.ts';
import { isMirrorPod } from './annotations.ts';

/** What a resize may change (Kubernetes: core/validation, ValidatePodResize). */
export function validatePodResize(root: FieldPath, pod: Pod, old: Pod): void {
  const why = whyNever(root, pod, old);
  if (why !== undefined) {
    root.forbidden(why);
    return;
  }
  const at = root.field('spec');
  const { spec = {}, status = {} } = pod;
  const before = old.spec ?? {};
  if ((old.status?.qosClass || qosClass(before)) !== qosClass(spec))
    at.invalid(status.qosClass ?? '', 'Pod QOS Class may not change as a result of resizing');
  if (!isResizable(old.status?.containerStatuses ?? []))
    at.forbidden('Pod running on node without support for resize');
  if (!hasSameNames(pod, old)) {
    at.forbidden('only cpu and memory resources are mutable');
    return;
  }
  if (root.isOn('InPlacePodLevelResourcesVerticalScaling')) validateWhole(at, pod, old);
  validateInitContainers(at, spec.initContainers ?? [], before.initContainers ?? []);
  for (const [path, container, index] of at.field('containers').each(spec.containers))
    validateContainer(at, path, { container, before: before.containers?.[index] ?? {}, kind: '' });
}

/** Why no resize of the pod is possible; undefined: it is. */
function whyNever({ isOn }: FieldPath, { spec = {} }: Pod, old: Pod): string | undefined {
  const resizesWhole = isOn('InPlacePodLevelResourcesVerticalScaling');
  if (!resizesWhole && (statesResources(spec) || statesResources(old.spec ?? {})))
    return 'pods with pod-level resources cannot be resized';
  if (isMirrorPod(old.metadata.annotations ?? {})) return 'static pods cannot be resized';
  if (old.spec?.os?.name === 'windows') return 'windows pods cannot be resized';
  if ((old.status?.nodeAllocatableResourceClaimStatuses ?? []).length > 0)
    return 'pods with node allocatable resource claims cannot be resized';
  return undefined;
}

/** A node agent that can resize reports what a running container has. Without running containers it may well be one. */
function isResizable(statuses: readonly ContainerStatus[]): boolean {
  const running = statuses.find(({ state }) => state?.running !== undefined);
  return running === undefined || running.resources !== undefined;
}

const LISTS = ['containers', 'initContainers'] as const;

function hasSameNames({ spec }: Pod, old: Pod): boolean {
  const names = (containers: readonly Container[] | null | undefined): unknown =>
    (containers ?? []).map(({ name }) => name);
  return LISTS.every((list) => equal(names(spec?.[list]), names(old.spec?.[list])));
}

/** What the pod states for all of its containers together. */
function validateWhole(at: FieldPath, { spec }: Pod, old: Pod): void {
  const after = spec?.resources ?? {};
  const before = old.spec?.resources ?? {};
  refuseRemoval(at.field('resources'), after, before);
  if (!equal(unresized(after), unresized(before)))
    at.forbidden('only cpu and memory resources are mutable at pod-level');
}

function validateInitContainers(
  at: FieldPath,
  containers: readonly Container[],
  before: readonly Container[],
): void {
  const resizesAll = at.isOn('InPlacePodVerticalScalingInitContainers');
  for (const [path, container, index] of at.field('initContainers').each(containers)) {
    const old = before[index] ?? {};
    if (isSidecar(container))
      validateContainer(at, path, { container, before: old, kind: ' for sidecar containers' });
    else if (resizesAll)
      validateContainer(at, path, { container, before: old, kind: ' for init containers' });
    else if (!equal(container, old)) at.forbidden('resources for non-sidecar init containers are immutable');
  }
}

interface Resized {
  readonly container: Container;
  readonly before: Container;
  /** The kind of container, as the message has it. */
  readonly kind: string;
}

/** `spec` is where the pod's spec is, `at` where the container is. */
function validateContainer(spec: FieldPath, at: FieldPath, { container, before, kind }: Resized): void {
  const after = container.resources ?? {};
  const old = before.resources ?? {};
  const path = at.field('resources');
  refuseRemoval(path, after, old);
  if ((at.isOn.minor ?? DEFAULT_MINOR) === 33) refuseTighterMemory(path, container, before);
  const same =
    equal({ ...container, resources: undefined }, { ...before, resources: undefined }) &&
    equal(unresized(after), unresized(old));
  if (!same) spec.forbidden(`only cpu and memory resources${kind} are mutable`);
}

/** The resources without what a resize may change. */
function unresized({ requests, limits, claims = [] }: ResourceRequirements): unknown {
  const rest = ({ cpu: _, memory: __, ...others }: Readonly<Record<string, string>> = {}): unknown => others;
  return { requests: rest(requests), limits: rest(limits), claims };
}

function refuseRemoval(at: FieldPath, after: ResourceRequirements, before: ResourceRequirements): void {
  for (const list of ['requests', 'limits'] as const) {
    const isRemoved = Object.keys(before[list] ?? {}).some((name) => after[list]?.[name] === undefined);
    if (isRemoved) at.field(list).forbidden(`resource ${list} cannot be removed`);
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
