import type { Minor } from '../../api/emulation.ts';
import { NODES, PODS } from '../../api/known-resources.ts';
import type { Container, Pod, PodSpec, ResourceRequirements } from '../../api/types/core/v1.ts';
import { equal } from '../../object/equality.ts';
import { isSidecar } from '../../object/pod-resources.ts';
import { parseQuantity } from '../../object/quantity.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';

/** An update that only some nodes can carry out. */
interface NodeFeature {
  readonly name: string;
  readonly since: Minor;
  readonly until?: Minor;
  readonly isNeeded: (pod: Pod, old: Pod) => boolean;
}

/** By name (Kubernetes: component-helpers/nodedeclaredfeatures). Features that matter for scheduling alone are left out. */
const FEATURES: readonly NodeFeature[] = [
  {
    name: 'GuaranteedQoSPodCPUResize',
    since: 35,
    until: 36,
    isNeeded: (pod, old) =>
      old.status?.qosClass === 'Guaranteed' && anyChanged('containers', pod, old, cpuOf),
  },
  {
    name: 'InPlacePodLevelResourcesVerticalScaling',
    since: 35,
    isNeeded: (pod, old) => !equal(amountsOf(pod.spec), amountsOf(old.spec)),
  },
  {
    name: 'InPlacePodVerticalScalingInitContainers',
    since: 36,
    isNeeded: (pod, old) =>
      anyChanged('initContainers', pod, old, (container) =>
        isSidecar(container) ? undefined : amountsOf(container),
      ),
  },
];

function anyChanged(
  list: 'containers' | 'initContainers',
  pod: Pod,
  old: Pod,
  read: (container: Container) => ReturnType<typeof amountsOf> | string | undefined,
): boolean {
  const after = pod.spec?.[list] ?? [];
  const before = old.spec?.[list] ?? [];
  return before.some((container, at) => !equal(read(container), read(after[at] ?? {})));
}

const cpuOf = ({ resources }: Container): string => amountOf(resources?.requests?.cpu ?? '0');

/** Quantities that are written differently may be equal. */
const amountOf = (text: string): string => String(parseQuantity(text)?.nanos ?? text);

function amountsOf({ resources }: Pick<PodSpec, 'resources'> = {}) {
  if (resources === undefined) return null;
  const amounts = (of: ResourceRequirements['limits'] = {}) =>
    Object.fromEntries(Object.entries(of).map(([name, text]) => [name, amountOf(text)]));
  return { ...resources, limits: amounts(resources.limits), requests: amounts(resources.requests) };
}

/**
 * Refuses updates of a placed pod that its node does not declare to carry out (Kubernetes:
 * plugin/pkg/admission/nodedeclaredfeatures).
 */
function createNodeDeclaredFeatures({ objects, emulated }: Parts): AdmissionPlugin {
  const nodes = new ObjectLookup(objects, NODES);
  const features = FEATURES.filter(
    ({ since, until }) => since <= emulated && (until === undefined || emulated < until),
  );
  return {
    name: 'NodeDeclaredFeatureValidator',
    operations: ['UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, PODS) && !isWriteOf(attributes, PODS, 'resize')) return undefined;
      const { object, old } = attributes;
      const node = object?.spec?.nodeName ?? '';
      if (node === '' || object === undefined || old === undefined) return undefined;
      const needed = features.filter(({ isNeeded }) => isNeeded(object, old)).map(({ name }) => name);
      if (needed.length === 0) return undefined;
      return nodes.with('', node, (found) => {
        if (found === undefined) throw refusal(attributes, `node ${JSON.stringify(node)} not found`);
        const declared = found.status?.declaredFeatures ?? [];
        const lacking = needed.filter((name) => !declared.includes(name));
        if (lacking.length === 0) return;
        const where = `not available on node ${JSON.stringify(node)}`;
        throw refusal(attributes, `pod update requires features ${lacking.join(', ')} which are ${where}`);
      });
    },
  };
}

interface Parts extends Pick<PluginParts, 'objects' | 'isFeatureOn'> {
  readonly emulated: Minor;
}

export const nodeDeclaredFeatures = describePlugin({
  name: 'NodeDeclaredFeatureValidator',
  isDefault: true,
  since: 35,
  create: (parts: Parts) =>
    parts.isFeatureOn('NodeDeclaredFeatures') ? createNodeDeclaredFeatures(parts) : undefined,
});
