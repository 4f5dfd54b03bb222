import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import { objectsOf, part, text } from '../../../object/parts.ts';
import { toResourceList } from '../../../object/resource-list.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.ts';
import type { ClusterObjects } from '../../cluster-objects.ts';
import { refuseFor } from '../../refusal.ts';
import { podResources, resourcesOf } from '../pod-resources.ts';
import { type Asked, claimViolationsOf, type Limit, violationsOf } from './constraints.ts';
import { giveDefaults } from './container-defaults.ts';

/**
 * The LimitRanges of a namespace: what containers get that do not say, and the least and most that containers, pods and claims
 * may ask for (Kubernetes: plugin/pkg/admission/limitranger).
 */
export function createLimitRanger(objects: ClusterObjects): AdmissionPlugin {
  const limitRanges = objects.follow({ group: '', resource: 'limitranges' });
  return {
    name: 'LimitRanger',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      const { object, namespace } = attributes;
      if (object === undefined || kindOf(attributes) !== 'pods') return;
      for (const limitRange of limitRanges.in(namespace)) giveDefaults(object, limitRange);
    },
    validate: (attributes) => {
      const { object, namespace } = attributes;
      const kind = kindOf(attributes);
      if (object === undefined || kind === undefined) return;
      for (const limitRange of limitRanges.in(namespace)) {
        const limits = objectsOf(part(limitRange, 'spec').limits).map(toLimit);
        const violations = kind === 'pods' ? podViolations : claimViolations;
        refuseFor(
          attributes,
          limits.flatMap((limit) => violations(limit, object)),
        );
      }
    },
  };
}

/** Containers cannot come, go or change in a pod that is there, so only new pods are looked at, but claims may grow. */
function kindOf({ definition, operation, subresource, old }: AdmissionAttributes): string | undefined {
  const { group, resource } = definition;
  if (group !== '' || subresource !== '') return undefined;
  if (resource === 'pods') return operation === 'CREATE' ? resource : undefined;
  const isLeaving = old?.metadata.deletionTimestamp !== undefined;
  return resource === 'persistentvolumeclaims' && !isLeaving ? resource : undefined;
}

function toLimit(limit: JsonObject): Limit {
  return {
    type: text(limit.type),
    min: toResourceList(limit.min),
    max: toResourceList(limit.max),
    maxLimitRequestRatio: toResourceList(limit.maxLimitRequestRatio),
  };
}

function podViolations(limit: Limit, pod: ApiObject): string[] {
  const spec = part(pod, 'spec');
  if (limit.type === 'Pod') {
    const asked = { requests: podResources(spec, 'requests'), limits: podResources(spec, 'limits') };
    return violationsOf(limit, asked);
  }
  if (limit.type !== 'Container') return [];
  const containers = [...objectsOf(spec.containers), ...objectsOf(spec.initContainers)];
  return containers.flatMap((container) => violationsOf(limit, askedBy(container)));
}

const askedBy = (container: JsonObject): Asked => ({
  requests: resourcesOf(container, 'requests'),
  limits: resourcesOf(container, 'limits'),
});

function claimViolations(limit: Limit, claim: ApiObject): string[] {
  if (limit.type !== 'PersistentVolumeClaim') return [];
  return claimViolationsOf(limit, toResourceList(part(claim, 'spec', 'resources').requests));
}
