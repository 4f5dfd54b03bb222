import type { ResourceOf } from '../../api/names.ts';
import type { PodGroup, Workload } from '../../api/types/scheduling/v1alpha2.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';

const GROUPS: ResourceOf<PodGroup> = { group: 'scheduling.k8s.io', resource: 'podgroups' };
const WORKLOADS: ResourceOf<Workload> = { group: 'scheduling.k8s.io', resource: 'workloads' };

/** Refuses a group of pods whose workload, or template in it, is missing (Kubernetes 1.36: plugin/pkg/admission/podgroup). */
function createPodGroupWorkload(objects: ClusterObjects): AdmissionPlugin {
  const workloads = new ObjectLookup(objects, WORKLOADS);
  return {
    name: 'PodGroupWorkloadExists',
    operations: ['CREATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, GROUPS)) return undefined;
      const ref = attributes.object?.spec?.podGroupTemplateRef?.workload;
      if (ref === undefined) return undefined;
      const { workloadName = '', podGroupTemplateName = '' } = ref;
      return workloads.with(attributes.namespace, workloadName, (workload) => {
        const why = whyNot(workload, workloadName, podGroupTemplateName);
        if (why !== undefined) throw refusal(attributes, `PodGroup rejected: ${why}`);
      });
    },
  };
}

function whyNot(workload: Workload | undefined, name: string, template: string): string | undefined {
  const named = `Workload ${JSON.stringify(name)}`;
  if (workload === undefined) return `${named} not found`;
  if (workload.metadata.deletionTimestamp !== undefined) return `${named} is being deleted`;
  const templates = workload.spec?.podGroupTemplates ?? [];
  return templates.some((one) => one.name === template)
    ? undefined
    : `PodGroupTemplate ${JSON.stringify(template)} not found in ${named}`;
}

export const podGroupWorkload = describePlugin({
  name: 'PodGroupWorkloadExists',
  isDefault: true,
  since: 36,
  create: ({ objects, isFeatureOn }: Pick<PluginParts, 'objects' | 'isFeatureOn'>) =>
    isFeatureOn('GenericWorkload') ? createPodGroupWorkload(objects) : undefined,
});
