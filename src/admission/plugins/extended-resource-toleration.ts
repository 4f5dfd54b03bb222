import type { JsonObject } from '../../api/object-meta.ts';
import { objectsOf, part, text } from '../../object/parts.ts';
import { isExtendedResource } from '../../object/resource-names.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { isPodWrite, specOf } from './written-pod.ts';

/**
 * Nodes with special hardware are tainted by its name; pods that ask for it may go there
 * (Kubernetes: plugin/pkg/admission/extendedresourcetoleration).
 */
export const tolerateExtendedResources: AdmissionPlugin = {
  name: 'ExtendedResourceToleration',
  operations: ['CREATE', 'UPDATE'],
  mutate: (attributes) => {
    const { object } = attributes;
    if (!isPodWrite(attributes) || object === undefined) return;
    const spec = specOf(object);
    for (const resource of requestedBy(spec)) tolerate(spec, resource);
  },
};

function requestedBy(spec: JsonObject): string[] {
  const containers = [...objectsOf(spec.containers), ...objectsOf(spec.initContainers)];
  const names = containers.flatMap((container) => Object.keys(part(container, 'resources', 'requests')));
  return [...new Set(names)].filter(isExtendedResource).sort();
}

function tolerate(spec: JsonObject, key: string): void {
  const wanted: JsonObject = { key, operator: 'Exists', effect: 'NoSchedule' };
  const matches = (held: JsonObject): boolean =>
    ['key', 'operator', 'value', 'effect'].every((field) => text(held[field]) === text(wanted[field]));
  const tolerations = objectsOf(spec.tolerations);
  spec.tolerations = tolerations.some(matches)
    ? tolerations.map((held) => (matches(held) ? { ...wanted } : held))
    : [...tolerations, wanted];
}
