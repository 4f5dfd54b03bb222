import { objectsOf, part } from '../../../object/parts.ts';
import { amount, countName, type Measure, ONE, ZERO } from '../measure.ts';

const SERVICES = { group: '', resource: 'services' };
const COUNT = countName(SERVICES);
const NAMES = [COUNT, 'services', 'services.nodeports', 'services.loadbalancers'];

/** Services, the node ports that they take or are about to be given, and load balancers. */
export const measureServices: Measure = {
  resource: SERVICES,
  operations: ['CREATE', 'UPDATE'],
  counts: (name) => NAMES.includes(name),
  usage: (service) => {
    const { type, ports, allocateLoadBalancerNodePorts } = part(service, 'spec');
    const all = objectsOf(ports);
    const isBalanced = type === 'LoadBalancer';
    const takesPorts = type === 'NodePort' || isBalanced;
    // Where none are given out by themselves, only those count that are asked for.
    const isAsked = isBalanced && allocateLoadBalancerNodePorts === false;
    const taken = isAsked ? all.filter(({ nodePort }) => nodePort !== undefined && nodePort !== 0) : all;
    return new Map([
      [COUNT, ONE],
      ['services', ONE],
      ['services.nodeports', takesPorts ? amount(taken.length) : ZERO],
      ['services.loadbalancers', isBalanced ? ONE : ZERO],
    ]);
  },
};
