import type { Gates } from '../api/feature-gates.ts';
import { formatIp, type IpRange, parseCidr } from '../object/ip.ts';
import { notNegative } from './checks.ts';
import type { CommandLine } from './command-line.ts';
import { int, text, UsageError } from './flag.ts';

export const serviceFlags = {
  endpointReconciler: text('endpoint-reconciler-type', {
    default: 'lease',
    meaning: 'master-count (deprecated), lease or none',
    check: reconciler,
  }),
  nodePort: int('cluster-service-node-port', {
    default: 0,
    meaning: 'if non-zero the API service is of type NodePort using this port; if zero, ClusterIP',
    check: portOfNodes,
  }),
  clusterIpRanges: text('service-cluster-ip-range', {
    default: '',
    meaning:
      'CIDR for service cluster IPs; no overlap with node or pod ranges; at most two (dual-stack) CIDRs; 10.0.0.0/24 when empty',
    check: clusterIpRanges,
  }),
  nodePortRange: text('service-node-port-range', {
    default: '30000-32767',
    meaning: 'port range for NodePort services; inclusive at both ends',
    check: nodePortRange,
  }),
};

/** Addresses and ports of services, and service default/kubernetes, through which the cluster reaches this API. @throws UsageError */
export function readClusterServices(line: CommandLine, isOn: Gates) {
  const services = line.valuesOf(serviceFlags);
  const { clusterIpRanges, nodePort, nodePortRange } = services;
  if (!isOn('MultiCIDRServiceAllocator') || !isOn('DisableAllocatorDualWrite')) assertSmall(clusterIpRanges);
  const isInRange = nodePort >= nodePortRange.first && nodePort <= nodePortRange.last;
  if (nodePort !== 0 && !isInRange) {
    const range = `${serviceFlags.nodePortRange.shown}, ${nodePortRange.first}-${nodePortRange.last}`;
    throw new UsageError(`${serviceFlags.nodePort.shown}: ${nodePort} must be in ${range}`);
  }
  return Object.freeze(services);
}

/** Kubernetes' default. */
export const DEFAULT_CLUSTER_IP_RANGE = '10.0.0.0/24';
/** Kubernetes' limit where ranges are the flags' alone, or also kept in the old way. */
const MOST_ADDRESS_BITS = 20;
const LEAST_ADDRESS_BITS = 3;
const LAST_PORT = 65_535;

/** master-count relied on a flag with the number of servers; leases do the same with the real number. */
function reconciler(type: string, flag: string): 'lease' | 'none' {
  if (type === 'lease' || type === 'none') return type;
  if (type === 'master-count') return 'lease';
  throw new UsageError(`${flag}: ${JSON.stringify(type)} must be lease, none or master-count (deprecated)`);
}

/** 0: the API service is of type ClusterIP. */
function portOfNodes(given: number, flag: string): number {
  const port = notNegative(given, flag);
  if (port > LAST_PORT) throw new UsageError(`${flag}: ${port} must be at most ${LAST_PORT}`);
  return port;
}

/** `10.96.0.0/16`, or two of different families with a comma: the first is the preferred one. */
function clusterIpRanges(text: string, flag: string): readonly IpRange[] {
  const given = (text === '' ? DEFAULT_CLUSTER_IP_RANGE : text).split(',').map((range) => range.trim());
  const wrong = (why: string): UsageError => new UsageError(`${flag}: ${JSON.stringify(text)} ${why}`);
  const ranges = given.map((range) => parseCidr(range));
  if (ranges.length > 2) throw wrong('has more than two ranges');
  for (const [at, range] of ranges.entries()) {
    if (range === undefined)
      throw wrong(`has ${JSON.stringify(given[at])}, which is not a CIDR such as 10.96.0.0/16`);
    const bits = range.bytes.length * 8;
    const hostBits = bits - range.prefixBits;
    if (hostBits < LEAST_ADDRESS_BITS)
      throw wrong(`is too small: the mask of ${given[at]} must be at most ${bits - LEAST_ADDRESS_BITS}`);
  }
  const found = ranges.filter((range) => range !== undefined);
  if (found.length === 2 && found[0]?.family === found[1]?.family)
    throw wrong('has two ranges of the same family');
  return found;
}

function assertSmall(ranges: readonly IpRange[]): void {
  for (const { bytes, prefixBits } of ranges) {
    const least = bytes.length * 8 - MOST_ADDRESS_BITS;
    if (prefixBits >= least) continue;
    const range = `${formatIp(bytes)}/${prefixBits}`;
    throw new UsageError(
      `${serviceFlags.clusterIpRanges.shown}: ${range} is too large: the mask must be at least ${least}, unless MultiCIDRServiceAllocator and DisableAllocatorDualWrite are on`,
    );
  }
}

/** `30000-32767`, or `30000+2767`. */
function nodePortRange(text: string, flag: string): { first: number; last: number } {
  const match = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim());
  const first = Number(match?.[1]);
  const second = Number(match?.[3] ?? first);
  const last = match?.[2] === '+' ? first + second : second;
  if (match === null || first < 1 || last < first || last > LAST_PORT) {
    throw new UsageError(`${flag}: ${JSON.stringify(text)} is not a range of ports such as 30000-32767`);
  }
  return { first, last };
}
