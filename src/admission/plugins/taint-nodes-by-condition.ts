import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';
import { NODES } from '../resources.ts';
import { isWriteOf } from '../write-of.ts';

const KEY = 'node.kubernetes.io/not-ready';
const EFFECT = 'NoSchedule';

/** Nothing is placed on a node before it was found ready: who finds it so takes the taint away (Kubernetes: nodetaint). */
export const taintNewNodes: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  operations: ['CREATE'],
  mutate: (attributes) => {
    if (!isWriteOf(attributes, NODES) || attributes.object === undefined) return;
    const { object } = attributes;
    const taints = object.spec?.taints ?? [];
    if (taints.some(({ key, effect }) => key === KEY && effect === EFFECT)) return;
    object.spec = { ...object.spec, taints: [...taints, { key: KEY, effect: EFFECT }] };
  },
};

export const taintNodesByCondition = describePlugin({
  name: 'TaintNodesByCondition',
  isDefault: true,
  create: () => taintNewNodes,
});
