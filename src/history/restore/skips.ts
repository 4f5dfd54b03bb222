import { type GroupResource, toQualifiedResource } from '../../api/names.ts';
import type { ApiObject, OwnerReference } from '../../api/object-meta.ts';
import { objectAt, objectsOf, stringOf } from '../../object/json-values.ts';

/**
 * Objects left out of bulk restores: their makers create them anew, or their meaning has changed. An object that the
 * Restore names is always restored.
 */

/** Resources that are left out entirely. */
const TRANSIENT: ReadonlyMap<string, string> = new Map([
  ['events', 'events tell of what happened; they are not restored'],
  ['leases.coordination.k8s.io', 'the holder of a lease makes it anew'],
  ['leasecandidates.coordination.k8s.io', 'a candidate makes it anew'],
]);

/** Why the objects of a resource are left out; undefined: they are restored. */
export const whySkipResource = (resource: GroupResource): string | undefined =>
  TRANSIENT.get(toQualifiedResource(resource));

/** Kinds of owners, by group, whose Kubernetes controllers create objects. Custom controllers may not create theirs again. */
const MAKERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['apps', new Set(['DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'])],
  ['batch', new Set(['CronJob', 'Job'])],
  ['', new Set(['Node', 'Pod', 'ReplicationController', 'Service'])],
]);

/** The owner whose controller created the object, and will create it again. */
function makerOf({ metadata }: ApiObject): OwnerReference | undefined {
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (controller === undefined) return undefined;
  const { apiVersion = '', kind = '' } = controller;
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  return MAKERS.get(group)?.has(kind) === true ? controller : undefined;
}

/** Other past objects on which skipping depends. */
export interface Surroundings {
  /** Whether there was an object with the uid. */
  has(uid: string): boolean;
  /** Whether there was a service of this name that selects pods. */
  selects(service: string): boolean;
}

/** Why an object is left out; undefined: it is restored. */
export function whySkip(
  object: ApiObject,
  resource: GroupResource,
  surroundings: Surroundings,
): string | undefined {
  const maker = makerOf(object);
  if (maker !== undefined && surroundings.has(maker.uid ?? ''))
    return `${maker.kind} ${maker.name} makes it anew`;
  return RULES.get(toQualifiedResource(resource))?.(object, surroundings);
}

type Rule = (object: ApiObject, surroundings: Surroundings) => string | undefined;

const MANAGED_SLICES = 'endpointslice.kubernetes.io/managed-by';
const SLICE_CONTROLLERS: ReadonlySet<string> = new Set([
  'endpointslice-controller.k8s.io',
  'endpointslicemirroring-controller.k8s.io',
]);

const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    'configmaps',
    ({ metadata }) =>
      metadata.name === 'kube-root-ca.crt' ? 'the server makes it in every namespace' : undefined,
  ],
  [
    'secrets',
    ({ type }) =>
      type === 'kubernetes.io/service-account-token'
        ? 'a token ends with its secret; a new one is to be made'
        : undefined,
  ],
  [
    'endpoints',
    ({ metadata }, { selects }) =>
      selects(metadata.name ?? '') ? `the controller of service ${metadata.name} makes them anew` : undefined,
  ],
  [
    'endpointslices.discovery.k8s.io',
    ({ metadata }) => {
      const by = metadata.labels?.[MANAGED_SLICES] ?? '';
      return SLICE_CONTROLLERS.has(by) ? `${by} makes it anew` : undefined;
    },
  ],
  [
    'pods',
    (pod) => {
      if (pod.metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined)
        return 'its node makes it anew';
      const phase = stringOf(objectAt(pod, 'status').phase);
      return phase === 'Succeeded' || phase === 'Failed' ? AGAIN : undefined;
    },
  ],
  ['jobs.batch', (job) => (hasEnded(job) ? AGAIN : undefined)],
]);

const AGAIN = 'it had ended, and would run again; restore it by its name if it is to';

const hasEnded = (job: ApiObject): boolean =>
  objectsOf(objectAt(job, 'status').conditions).some(
    ({ type, status }) => (type === 'Complete' || type === 'Failed') && status === 'True',
  );
