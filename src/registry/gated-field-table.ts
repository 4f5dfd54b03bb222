import type { GatedFeature } from './gated-feature.ts';
import { podFeatures, podStatusFeatures } from './gated-pod-fields.ts';

const one = (gate: string, ...paths: string[]): GatedFeature => ({ gate, paths });

const template = podFeatures('spec.template.spec');

/** By resource, as `group/resource`: the fields Kubernetes 1.31 knows behind a gate. `A|B` is on when one of both is. */
export const GATED_FIELDS: Readonly<Record<string, readonly GatedFeature[]>> = {
  '/pods': [...podFeatures('spec'), ...podStatusFeatures()],
  '/podtemplates': podFeatures('template.spec'),
  '/replicationcontrollers': template,
  'apps/deployments': template,
  'apps/replicasets': template,
  'apps/daemonsets': template,
  'apps/statefulsets': [
    ...template,
    one('StatefulSetAutoDeletePVC', 'spec.persistentVolumeClaimRetentionPolicy'),
    one('MaxUnavailableStatefulSet', 'spec.updateStrategy.rollingUpdate.maxUnavailable'),
  ],
  'batch/jobs': [
    ...template,
    one('JobManagedBy', 'spec.managedBy'),
    one('JobSuccessPolicy', 'spec.successPolicy'),
    one('JobBackoffLimitPerIndex', 'spec.backoffLimitPerIndex', 'spec.maxFailedIndexes'),
    one('JobPodReplacementPolicy', 'spec.podReplacementPolicy'),
  ],
  'batch/cronjobs': podFeatures('spec.jobTemplate.spec.template.spec'),
  '/persistentvolumeclaims': [
    one('VolumeAttributesClass', 'spec.volumeAttributesClassName'),
    one('VolumeAttributesClass', 'status.currentVolumeAttributesClassName'),
    one('VolumeAttributesClass', 'status.modifyVolumeStatus'),
    one('RecoverVolumeExpansionFailure', 'status.allocatedResources'),
    one('RecoverVolumeExpansionFailure', 'status.allocatedResourceStatuses'),
  ],
  '/persistentvolumes': [one('VolumeAttributesClass', 'spec.volumeAttributesClassName')],
  '/services': [
    one('ServiceTrafficDistribution', 'spec.trafficDistribution'),
    one('LoadBalancerIPMode', 'status.loadBalancer.ingress.ipMode'),
  ],
  '/nodes': [
    one('RecursiveReadOnlyMounts|UserNamespacesSupport', 'status.runtimeHandlers'),
    one('SupplementalGroupsPolicy', 'status.features'),
  ],
  'discovery.k8s.io/endpointslices': [one('TopologyAwareHints', 'endpoints.hints')],
  'coordination.k8s.io/leases': [
    one('CoordinatedLeaderElection', 'spec.strategy'),
    one('CoordinatedLeaderElection', 'spec.preferredHolder'),
  ],
  'storage.k8s.io/csidrivers': [one('SELinuxMountReadWriteOncePod', 'spec.seLinuxMount')],
  'resource.k8s.io/resourceclaims': [
    one('DRAControlPlaneController', 'spec.controller'),
    {
      ...one('DRAControlPlaneController', 'status.allocation.controller', 'status.deallocationRequested'),
      usedBy: ['spec.controller'],
    },
  ],
  'resource.k8s.io/deviceclasses': [one('DRAControlPlaneController', 'spec.suitableNodes')],
  'apiextensions.k8s.io/customresourcedefinitions': [
    one('CustomResourceFieldSelectors', 'spec.versions.selectableFields'),
  ],
};
