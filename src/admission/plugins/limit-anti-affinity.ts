import { forbidden } from '../../api/status.ts';
import { objectsOf, part, text } from '../../object/parts.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { isPodWrite } from './written-pod.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** A pod may keep others off its node, but not off a zone (Kubernetes: plugin/pkg/admission/antiaffinity). */
export const limitAntiAffinity: AdmissionPlugin = {
  name: 'LimitPodHardAntiAffinityTopology',
  operations: ['CREATE', 'UPDATE'],
  validate: (attributes) => {
    const { object, definition } = attributes;
    if (!isPodWrite(attributes) || object === undefined) return;
    const { requiredDuringSchedulingIgnoredDuringExecution: terms } = part(
      object,
      'spec',
      'affinity',
      'podAntiAffinity',
    );
    const wrong = objectsOf(terms).find(({ topologyKey }) => topologyKey !== HOSTNAME);
    if (wrong === undefined) return;
    const key = text(wrong.topologyKey);
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${key} but only key ${HOSTNAME} is allowed`;
    throw forbidden(definition, object.metadata.name ?? '', why);
  },
};
