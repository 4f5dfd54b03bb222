import type { ResourceOf } from '../../../api/names.ts';
import type {
  Container,
  LimitRange,
  LimitRangeItem,
  PersistentVolumeClaim,
  Pod,
} from '../../../api/types/core/v1.ts';
import { toResourceList } from '../../../object/resource-list.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.ts';
import type { ClusterObjects } from '../../cluster-objects.ts';
import { describePlugin, type PluginParts } from '../../plugin.ts';
import { refuseFor } from '../../refusal.ts';
import { CLAIMS, PODS } from '../../resources.ts';
import { isWriteOf } from '../../write-of.ts';
import { podResources, resourcesOf } from '../pod-resources.ts';
import { type Asked, claimViolationsOf, type Limit, violationsOf } from './constraints.ts';
import { giveDefaults } from './container-defaults.ts';

const LIMIT_RANGES: ResourceOf<LimitRange> = { group: '', resource: 'limitranges' };

/**
 * The LimitRanges of a namespace: what containers get that do not say, and the least and most that containers, pods and claims
 * may ask for (Kubernetes: plugin/pkg/admission/limitranger).
 */
export function createLimitRanger(objects: ClusterObjects): AdmissionPlugin {
  const limitRanges = objects.follow(LIMIT_RANGES);
  return {
    name: 'LimitRanger',
    operations: ['CREATE', 'UPDATE'],
    mutate: (attributes) => {
      const pod = newPod(attributes);
      if (pod === undefined) return;
      for (const limitRange of limitRanges.in(attributes.namespace)) giveDefaults(pod, limitRange);
    },
    validate: (attributes) => {
      const violations = checkOf(attributes);
      if (violations === undefined) return;
      for (const { spec } of limitRanges.in(attributes.namespace))
        refuseFor(attributes, (spec?.limits ?? []).map(toLimit).flatMap(violations));
    },
  };
}

/** What is held against each limit; undefined: limits are not about such writes. */
function checkOf(attributes: AdmissionAttributes): ((limit: Limit) => string[]) | undefined {
  const pod = newPod(attributes);
  if (pod !== undefined) return (limit) => podViolations(limit, pod);
  const claim = stayingClaim(attributes);
  return claim && ((limit) => claimViolations(limit, claim));
}

/** Containers cannot come, go or change in a pod that is there, so only new pods are looked at. */
const newPod = (attributes: AdmissionAttributes): Pod | undefined =>
  attributes.operation === 'CREATE' && isWriteOf(attributes, PODS) ? attributes.object : undefined;

/** Claims may grow. */
const stayingClaim = (attributes: AdmissionAttributes): PersistentVolumeClaim | undefined =>
  isWriteOf(attributes, CLAIMS) && attributes.old?.metadata.deletionTimestamp === undefined
    ? attributes.object
    : undefined;

const toLimit = ({ type = '', min, max, maxLimitRequestRatio }: LimitRangeItem): Limit => ({
  type,
  min: toResourceList(min),
  max: toResourceList(max),
  maxLimitRequestRatio: toResourceList(maxLimitRequestRatio),
});

function podViolations(limit: Limit, { spec = {} }: Pod): string[] {
  if (limit.type === 'Pod') {
    const asked = { requests: podResources(spec, 'requests'), limits: podResources(spec, 'limits') };
    return violationsOf(limit, asked);
  }
  if (limit.type !== 'Container') return [];
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  return containers.flatMap((container) => violationsOf(limit, askedBy(container)));
}

const askedBy = (container: Container): Asked => ({
  requests: resourcesOf(container, 'requests'),
  limits: resourcesOf(container, 'limits'),
});

function claimViolations(limit: Limit, { spec }: PersistentVolumeClaim): string[] {
  if (limit.type !== 'PersistentVolumeClaim') return [];
  return claimViolationsOf(limit, toResourceList(spec?.resources?.requests));
}

export const limitRanger = describePlugin({
  name: 'LimitRanger',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createLimitRanger(objects),
});
