import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { equal } from '../../object/equality.ts';
import { count, part, parts, text } from '../cells.ts';

/** Rules of a pod's life that kube-apiserver itself keeps (Kubernetes: pod strategy). */

/**
 * How long a pod is given to end: what the caller asks for, or else what the pod itself says. One that was never placed on a
 * node, or has ended already, goes at once.
 */
export function podGracePeriod(pod: ApiObject, requested: number | undefined): number {
  const spec = part(pod, 'spec');
  const phase = text(part(pod, 'status').phase);
  if (text(spec.nodeName) === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  return requested ?? count(spec.terminationGracePeriodSeconds);
}

/** Guaranteed: limits equal requests everywhere. BestEffort: nothing is asked for. Burstable: the rest. */
export function qosClass(spec: JsonObject): string {
  const containers = [...parts(spec, 'containers'), ...parts(spec, 'initContainers')];
  const asked = containers.filter((container) => hasResources(container));
  if (asked.length === 0) return 'BestEffort';
  return containers.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const COMPUTE = ['cpu', 'memory'];

function hasResources(container: JsonObject): boolean {
  const { limits, requests } = part(container, 'resources');
  const given = { ...(limits as JsonObject | undefined), ...(requests as JsonObject | undefined) };
  return COMPUTE.some((name) => given[name] !== undefined && given[name] !== '0');
}

function isGuaranteed(container: JsonObject): boolean {
  const limits = part(container, 'resources', 'limits');
  const requests = part(container, 'resources', 'requests');
  return COMPUTE.every(
    (name) => limits[name] !== undefined && equal(limits[name], requests[name] ?? limits[name]),
  );
}

/** What may change in a pod's spec once it exists. */
const MUTABLE = ['activeDeadlineSeconds', 'tolerations', 'terminationGracePeriodSeconds'];

export function validatePodUpdate(pod: ApiObject, old: ApiObject): FieldError[] {
  if (equal(comparable(part(pod, 'spec')), comparable(part(old, 'spec')))) return [];
  const message =
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
    '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
    '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';
  return [{ type: 'FieldValueForbidden', field: 'spec', message }];
}

function comparable(spec: JsonObject): JsonObject {
  const out: JsonObject = { ...spec, schedulingGates: undefined };
  for (const name of MUTABLE) delete out[name];
  for (const list of ['containers', 'initContainers']) {
    out[list] = parts(spec, list).map(({ image: _, ...container }) => container);
  }
  return out;
}
