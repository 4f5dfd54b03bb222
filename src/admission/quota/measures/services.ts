import type { Service } from '../../../api/types/core/v1.ts';
import { SERVICES } from '../../resources.ts';
import { amount, countName, type Measure, ONE, ZERO } from '../measure.ts';

const COUNT = countName(SERVICES);
const NAMES = [COUNT, 'services', 'services.nodeports', 'services.loadbalancers'];

/** Services, the node ports that they take or are about to be given, and load balancers. */
export const measureServices: Measure<Service> = {
  resource: SERVICES,
  operations: ['CREATE', 'UPDATE'],
  mayHaveShrunk: () => true,
  counts: (name) => NAMES.includes(name),
  usage: ({ spec = {} }) => {
    const { type, ports = [], allocateLoadBalancerNodePorts } = spec;
    const isBalanced = type === 'LoadBalancer';
    const takesPorts = type === 'NodePort' || isBalanced;
    // Where none are given out by themselves, only those count that are asked for.
    const isAsked = isBalanced && allocateLoadBalancerNodePorts === false;
    const taken = isAsked ? ports.filter(({ nodePort = 0 }) => nodePort !== 0) : ports;
    return new Map([
      [COUNT, ONE],
      ['services', ONE],
      ['services.nodeports', takesPorts ? amount(taken.length) : ZERO],
      ['services.loadbalancers', isBalanced ? ONE : ZERO],
    ]);
  },
};
