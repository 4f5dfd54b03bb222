import type { PodSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { containerResources, isPodResource, resourcesOf } from '../../../object/pod-resources.ts';
import { formatQuantity, type Quantity } from '../../../object/quantity.ts';
import { isHugePages, toResourceList } from '../../../object/resource-list.ts';
import { validateResources } from './container-resources.ts';

/** What a pod states for all of its containers together (feature PodLevelResources). `at` is `spec.resources`. */
export function validatePodResources(at: FieldPath, spec: PodSpec): void {
  const { resources } = spec;
  if (resources === undefined) return;
  if (isLate(at) && spec.os?.name === 'windows') {
    at.forbidden('may not be set for a windows pod');
    return;
  }
  if (resources.claims !== undefined)
    at.field('claims').forbidden('claims cannot be set for Resources at pod-level');
  const { claims: _, ...amounts } = resources;
  validateResources(at, amounts, NO_CLAIMS, mustBeOfPods);
  validateSum(at.field('requests'), spec);
  validateLimits(at, spec);
}

const NO_CLAIMS: ReadonlySet<string> = new Set();

/** Huge pages came to pods as a whole in 1.34, and the words of today for the rest. */
const isLate = (at: FieldPath): boolean => at.minor >= 34;

function mustBeOfPods(at: FieldPath, name: string): void {
  const hasHugePages = isLate(at);
  if (isPodResource(name) && (hasHugePages || !isHugePages(name))) return;
  at.notSupported(name, hasHugePages ? ['cpu', 'hugepages-', 'memory'] : ['cpu', 'memory']);
}

/** Containers together request at most what the pod does. Until 1.33, that is nothing of what the pod does not name. */
function validateSum(at: FieldPath, spec: PodSpec): void {
  const own = toResourceList(spec.resources?.requests);
  for (const [name, asked] of containerResources(spec, 'requests')) {
    const most = own.get(name);
    if (asked.nanos <= (most?.nanos ?? 0n) || (most === undefined && isLate(at))) continue;
    const why = `must be greater than or equal to aggregate container requests of ${formatQuantity(asked)}`;
    at.item(name).invalid(most === undefined ? '0' : formatQuantity(most), why);
  }
}

/** No container may use more than the pod. The path is below the pod's resources, as in Kubernetes. */
function validateLimits(at: FieldPath, spec: PodSpec): void {
  const own = toResourceList(spec.resources?.limits);
  if (isLate(at)) validatePages(at.field('limits'), spec, own);
  for (const [path, container] of at.field('containers').each(spec.containers))
    for (const [name, limit] of resourcesOf(container, 'limits')) {
      const most = own.get(name);
      if (most === undefined || limit.nanos <= most.nanos) continue;
      const why = `must be less than or equal to pod limits of ${formatQuantity(most)}`;
      path.item(name).field('limits').invalid(formatQuantity(limit), why);
    }
}

/** Huge pages cannot be overcommitted: those of all containers must be within those of the pod. */
function validatePages(at: FieldPath, spec: PodSpec, own: ReadonlyMap<string, Quantity>): void {
  for (const [name, together] of containerResources(spec, 'limits')) {
    const most = own.get(name);
    if (!isHugePages(name) || most === undefined || together.nanos <= most.nanos) continue;
    const why = `must be greater than or equal to aggregate container limits of ${formatQuantity(together)}`;
    at.item(name).invalid(formatQuantity(most), why);
  }
}
