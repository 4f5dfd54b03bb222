import { objectsOf } from '../../object/parts.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { specOf } from './written-pod.ts';

const KEY = 'node.kubernetes.io/not-ready';
const EFFECT = 'NoSchedule';

/** Nothing is placed on a node before it was found ready: who finds it so takes the taint away (Kubernetes: nodetaint). */
export const taintNewNodes: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  mutate: ({ definition, subresource, object }) => {
    if (definition.resource !== 'nodes' || definition.group !== '' || subresource !== '') return;
    if (object === undefined) return;
    const spec = specOf(object);
    const taints = objectsOf(spec.taints);
    if (taints.some(({ key, effect }) => key === KEY && effect === EFFECT)) return;
    spec.taints = [...taints, { key: KEY, effect: EFFECT }];
  },
};
