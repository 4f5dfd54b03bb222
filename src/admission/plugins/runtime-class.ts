import { PODS } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { PodSpec } from '../../api/types/core/v1.ts';
import type { RuntimeClass } from '../../api/types/node/v1.ts';
import { toResourceList } from '../../object/resource-list.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';
import { specOf } from './pod-specs.ts';
import { mergeTolerations } from './tolerations.ts';

const RUNTIME_CLASSES: ResourceOf<RuntimeClass> = { group: 'node.k8s.io', resource: 'runtimeclasses' };

type Use = (spec: PodSpec, runtimeClass: RuntimeClass | undefined) => void;

/**
 * Copies the overhead and the scheduling rules of a runtime class into its pods; a pod cannot set another overhead
 * (Kubernetes: plugin/pkg/admission/runtimeclass).
 */
function createRuntimeClass(objects: ClusterObjects): AdmissionPlugin {
  const classes = new ObjectLookup(objects, RUNTIME_CLASSES);
  const withClass = (attributes: AdmissionAttributes, use: Use): Promise<void> | undefined => {
    if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return undefined;
    const spec = specOf(attributes.object);
    const { runtimeClassName: name } = spec;
    if (name !== undefined)
      return classes.with('', name, (found) => {
        const why = `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`;
        if (found === undefined) throw refusal(attributes, why);
        use(spec, found);
      });
    use(spec, undefined);
    return undefined;
  };
  return {
    name: 'RuntimeClass',
    operations: ['CREATE'],
    mutate: (attributes) =>
      withClass(attributes, (spec, runtimeClass) => {
        if (runtimeClass === undefined) return;
        setOverhead(attributes, spec, runtimeClass);
        setScheduling(attributes, spec, runtimeClass);
      }),
    validate: (attributes) =>
      withClass(attributes, (spec, runtimeClass) => checkOverhead(attributes, spec, runtimeClass)),
  };
}

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function setOverhead(attributes: AdmissionAttributes, spec: PodSpec, runtimeClass: RuntimeClass): void {
  if (runtimeClass.overhead === undefined) return;
  const { podFixed } = runtimeClass.overhead;
  const isSet = Object.keys(spec.overhead ?? {}).length > 0;
  if (isSet && !areSameAmounts(spec.overhead, podFixed)) throw refusal(attributes, MISMATCH);
  if (podFixed === undefined) delete spec.overhead;
  else spec.overhead = { ...podFixed };
}

function checkOverhead(
  attributes: AdmissionAttributes,
  spec: PodSpec,
  runtimeClass: RuntimeClass | undefined,
): void {
  if (runtimeClass?.overhead === undefined) {
    if (spec.overhead === undefined) return;
    const why = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';
    throw refusal(attributes, why);
  }
  const { podFixed } = runtimeClass.overhead;
  if (!areSameAmounts(spec.overhead, podFixed)) throw refusal(attributes, MISMATCH);
}

/** Compares amounts, not their notation. */
function areSameAmounts(a: PodSpec['overhead'], b: PodSpec['overhead']): boolean {
  const [some, others] = [toResourceList(a), toResourceList(b)];
  return (
    some.size === others.size && [...some].every(([name, { nanos }]) => others.get(name)?.nanos === nanos)
  );
}

function setScheduling(attributes: AdmissionAttributes, spec: PodSpec, { scheduling }: RuntimeClass): void {
  if (scheduling === undefined) return;
  const { nodeSelector: wanted = {} } = scheduling;
  const { nodeSelector: held = {} } = spec;
  for (const [key, value] of Object.entries(wanted)) {
    if (held[key] === undefined || held[key] === value) continue;
    const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${held[key]}`;
    throw refusal(attributes, why);
  }
  const selector = { ...held, ...wanted };
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  const added = (scheduling.tolerations ?? []).map((toleration) => ({ ...toleration }));
  const tolerations = mergeTolerations(spec.tolerations ?? [], added);
  if (tolerations.length > 0) spec.tolerations = tolerations;
}

export const runtimeClass = describePlugin({
  name: 'RuntimeClass',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createRuntimeClass(objects),
});
