import { forbidden } from '../../api/status.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin, isWriteOf } from '../plugin.ts';
import { PODS } from '../resources.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** Pods may keep others off their node, but not off a zone (Kubernetes: plugin/pkg/admission/antiaffinity). */
export const limitAntiAffinity: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    if (!isWriteOf(attributes, PODS) || attributes.object === undefined) return;
    const { object, definition } = attributes;
    const { requiredDuringSchedulingIgnoredDuringExecution: terms = [] } =
      object.spec?.affinity?.podAntiAffinity ?? {};
    const wrong = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
    if (wrong === undefined) return;
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wrong.topologyKey ?? ''} but only key ${HOSTNAME} is allowed`;
    throw forbidden(definition, object.metadata.name ?? '', why);
  },
};

export const limitAntiAffinityPlugin = describePlugin({
  name: 'LimitPodHardAntiAffinityTopology',
  isDefault: false,
  create: () => limitAntiAffinity,
});
