import { NODES, PODS } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { ObjectMeta } from '../../api/object-meta.ts';
import type { Binding } from '../../api/types/core/v1.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts } from '../plugin.ts';

/** The body of a pod's subresource "binding". */
const PLACED: ResourceOf<Binding> = { group: '', resource: 'pods' };

const COPIED = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/**
 * Tells a pod where its node is: labels of the node come to the pod with its binding, or with its creation if it is placed by
 * then, and replace those that the pod or the binding has (Kubernetes: plugin/pkg/admission/podtopologylabels).
 */
function createPodTopologyLabels(objects: ClusterObjects): AdmissionPlugin {
  const nodes = new ObjectLookup(objects, NODES);
  const label = (metadata: ObjectMeta, node: string): Promise<void> | undefined =>
    nodes.with('', node, (found) => {
      const held = found?.metadata.labels ?? {};
      const copied = COPIED.flatMap((key) => (held[key] === undefined ? [] : [[key, held[key]] as const]));
      if (copied.length > 0) metadata.labels = { ...metadata.labels, ...Object.fromEntries(copied) };
    });
  return {
    name: 'PodTopologyLabels',
    operations: ['CREATE'],
    mutate: (attributes) => {
      if (isWriteOf(attributes, PLACED, 'binding')) {
        const { target, metadata } = attributes.object ?? {};
        if (target?.kind === 'Node' && metadata !== undefined) return label(metadata, target.name ?? '');
      } else if (isWriteOf(attributes, PODS)) {
        const { spec, metadata } = attributes.object ?? {};
        const { nodeName = '' } = spec ?? {};
        if (nodeName !== '' && metadata !== undefined) return label(metadata, nodeName);
      }
      return undefined;
    },
  };
}

export const podTopologyLabels = describePlugin({
  name: 'PodTopologyLabels',
  isDefault: true,
  since: 33,
  create: ({ objects, isFeatureOn }: Pick<PluginParts, 'objects' | 'isFeatureOn'>) =>
    isFeatureOn('PodTopologyLabelsAdmission') ? createPodTopologyLabels(objects) : undefined,
});
