import { NODES, PODS } from '../../api/known-resources.ts';
import type { Node, PodSpec } from '../../api/types/core/v1.ts';
import { goQuote } from '../../object/go-value.ts';
import { podResources } from '../../object/pod-resources.ts';
import { type ResourceList, toResourceList } from '../../object/resource-list.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';

const NANOS_PER_MILLI = 1_000_000n;
const NANOS = 1_000_000_000n;

/** Refuses a resize that the node of the pod can never carry out (Kubernetes: plugin/pkg/admission/podresize). */
function createPodResizeLimits(objects: ClusterObjects): AdmissionPlugin {
  const nodes = new ObjectLookup(objects, NODES);
  return {
    name: 'PodResizeValidator',
    operations: ['UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, PODS, 'resize')) return undefined;
      const { object: { metadata, spec = {} } = {}, old } = attributes;
      const { nodeName = '' } = spec;
      // The generation rises with every change of the spec.
      if (nodeName === '' || metadata?.generation === old?.metadata.generation) return undefined;
      return nodes.with('', nodeName, (node) => {
        if (node === undefined) throw refusal(attributes, `node ${goQuote(nodeName)} not found`);
        const reason = whyImpossible(spec, node);
        if (reason !== undefined) throw refusal(attributes, reason.message, [{ reason: reason.cause }]);
      });
    },
  };
}

interface Impossible {
  readonly cause: 'UnsupportedPlatform' | 'NodeCapacity';
  readonly message: string;
}

function whyImpossible(spec: PodSpec, { metadata, status }: Node): Impossible | undefined {
  const system = metadata.labels?.['kubernetes.io/os'] ?? 'linux';
  if (system !== 'linux')
    return {
      cause: 'UnsupportedPlatform',
      message: `pod resize is only supported on linux nodes, node ${goQuote(metadata.name ?? '')} is ${goQuote(system)}`,
    };
  const wanted = podResources(spec, 'requests');
  const there = toResourceList(status?.allocatable);
  const lacks = [lackOf('cpu', NANOS_PER_MILLI), lackOf('memory', NANOS)].flatMap(
    (lack) => lack(wanted, there) ?? [],
  );
  if (lacks.length === 0) return undefined;
  return {
    cause: 'NodeCapacity',
    message: `node didn't have enough allocatable resources: ${lacks.join('; ')}`,
  };
}

/** `unit`: that of the numbers in the message, in nanos. */
const lackOf =
  (name: string, unit: bigint) =>
  (wanted: ResourceList, there: ResourceList): string | undefined => {
    const requested = wanted.get(name)?.nanos ?? 0n;
    const allocatable = there.get(name)?.nanos ?? 0n;
    if (requested <= allocatable) return undefined;
    return `${name}, requested: ${roundUp(requested, unit)}, allocatable: ${roundUp(allocatable, unit)}`;
  };

const roundUp = (nanos: bigint, unit: bigint): bigint => (nanos + unit - 1n) / unit;

export const podResizeLimits = describePlugin({
  name: 'PodResizeValidator',
  isDefault: true,
  since: 36,
  create: ({ objects, isFeatureOn }: Pick<PluginParts, 'objects' | 'isFeatureOn'>) =>
    isFeatureOn('InPlacePodVerticalScaling') ? createPodResizeLimits(objects) : undefined,
});
