import type { ResourceOf } from '../../api/names.ts';
import type { Job } from '../../api/types/batch/v1.ts';
import type { PodGroup } from '../../api/types/scheduling/v1alpha2.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';

const GROUPS: ResourceOf<PodGroup> = { group: 'scheduling.k8s.io', resource: 'podgroups' };
const JOBS: ResourceOf<Job> = { group: 'batch', resource: 'jobs' };
/** A controller removes it once no pod names the group. */
const PROTECTION = 'scheduling.k8s.io/podgroup-protection';

/**
 * Gives a new group of pods the finalizer that keeps it while pods name it (Kubernetes 1.36:
 * plugin/pkg/admission/scheduling/podgroupprotection).
 */
const protectGroups: AdmissionPlugin = {
  name: 'PodGroupProtection',
  operations: ['CREATE'],
  mutate: (attributes) => {
    if (!isWriteOf(attributes, GROUPS) || attributes.object === undefined) return;
    const { metadata } = attributes.object;
    const { finalizers = [] } = metadata;
    if (!finalizers.includes(PROTECTION)) metadata.finalizers = [...finalizers, PROTECTION];
  },
};

export const podGroupProtection = describePlugin({
  name: 'PodGroupProtection',
  isDefault: true,
  since: 36,
  create: ({ isFeatureOn }: Pick<PluginParts, 'isFeatureOn'>) =>
    isFeatureOn('GenericWorkload') ? protectGroups : undefined,
});

/**
 * Keeps the parallelism of a job whose pods are placed all together or not at all (Kubernetes 1.36: plugin/pkg/admission/job).
 * The group of its pods is the one that its template names, else those that the job controls.
 */
function createJobValidation(objects: ClusterObjects): AdmissionPlugin {
  const groups = objects.follow(GROUPS);
  const groupsOf = ({ metadata: { namespace = '', uid = '' }, spec }: Job): readonly PodGroup[] => {
    const named = spec?.template?.spec?.schedulingGroup?.podGroupName;
    if (named !== undefined) return [groups.get(namespace, named)].filter((group) => group !== undefined);
    return groups
      .in(namespace)
      .filter(({ metadata: { ownerReferences = [] } }) =>
        ownerReferences.some((owner) => owner.controller === true && owner.uid === uid),
      );
  };
  return {
    name: 'JobValidation',
    operations: ['UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, JOBS)) return;
      const { object, old } = attributes;
      if (old === undefined || object?.spec?.parallelism === old.spec?.parallelism) return;
      const gang = groupsOf(old).find(({ spec }) => spec?.schedulingPolicy?.gang !== undefined);
      if (gang === undefined) return;
      const name = JSON.stringify(gang.metadata.name);
      throw refusal(
        attributes,
        `cannot change parallelism for a Job referencing gang-scheduled PodGroup ${name}`,
      );
    },
  };
}

export const jobValidation = describePlugin({
  name: 'JobValidation',
  isDefault: true,
  since: 36,
  create: ({ objects, isFeatureOn }: Pick<PluginParts, 'objects' | 'isFeatureOn'>) =>
    isFeatureOn('GenericWorkload') ? createJobValidation(objects) : undefined,
});
