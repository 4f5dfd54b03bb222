import type { PodSpec, Toleration } from '../../api/types/core/v1.ts';
import { isExtendedResource } from '../../object/resource-list.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';
import { PODS } from '../resources.ts';
import { isWriteOf } from '../write-of.ts';
import { specOf } from './written-pod.ts';

/**
 * Nodes with special hardware are tainted by its name; pods that ask for it may go there
 * (Kubernetes: plugin/pkg/admission/extendedresourcetoleration).
 */
export const tolerateExtendedResources: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  operations: ['CREATE', 'UPDATE'],
  mutate: (attributes) => {
    if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return;
    const spec = specOf(attributes.object);
    for (const resource of requestedBy(spec)) tolerate(spec, resource);
  },
};

function requestedBy({ containers, initContainers }: PodSpec): string[] {
  const names = [...(containers ?? []), ...(initContainers ?? [])].flatMap(({ resources }) =>
    Object.keys(resources?.requests ?? {}),
  );
  return [...new Set(names)].filter(isExtendedResource).sort();
}

function tolerate(spec: PodSpec, key: string): void {
  const wanted: Toleration = { key, operator: 'Exists', effect: 'NoSchedule' };
  const matches = (held: Toleration): boolean =>
    held.key === key && held.operator === wanted.operator && held.effect === wanted.effect && !held.value;
  const { tolerations = [] } = spec;
  spec.tolerations = tolerations.some(matches)
    ? tolerations.map((held) => (matches(held) ? { ...wanted } : held))
    : [...tolerations, wanted];
}

export const extendedResourceToleration = describePlugin({
  name: 'ExtendedResourceToleration',
  isDefault: false,
  create: () => tolerateExtendedResources,
});
