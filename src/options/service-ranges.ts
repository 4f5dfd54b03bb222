import { type IpRange, parseCidr } from '../object/ip.ts';
import { UsageError } from './flag.ts';

/** Kubernetes' default, for clusters that say nothing. */
const DEFAULT_CLUSTER_IP_RANGE = '10.0.0.0/24';
/** Larger ranges would only cost memory: every server keeps a mark for each address. */
const MOST_ADDRESS_BITS = 20;
const LEAST_ADDRESS_BITS = 3;
const LAST_PORT = 65_535;

/** `10.96.0.0/16`, or two of different families with a comma: the first is the preferred one. @throws UsageError */
export function parseClusterIpRanges(text: string): readonly IpRange[] {
  const given = (text === '' ? DEFAULT_CLUSTER_IP_RANGE : text).split(',').map((range) => range.trim());
  const wrong = (why: string): UsageError =>
    new UsageError(`--service-cluster-ip-range: ${JSON.stringify(text)} ${why}`);
  const ranges = given.map((range) => parseCidr(range));
  if (ranges.length > 2) throw wrong('has more than two ranges');
  for (const [at, range] of ranges.entries()) {
    if (range === undefined)
      throw wrong(`has ${JSON.stringify(given[at])}, which is not a CIDR such as 10.96.0.0/16`);
    const bits = range.bytes.length * 8;
    const hostBits = bits - range.prefixBits;
    if (hostBits > MOST_ADDRESS_BITS)
      throw wrong(`is too large: the mask of ${given[at]} must be at least ${bits - MOST_ADDRESS_BITS}`);
    if (hostBits < LEAST_ADDRESS_BITS)
      throw wrong(`is too small: the mask of ${given[at]} must be at most ${bits - LEAST_ADDRESS_BITS}`);
  }
  const found = ranges.filter((range) => range !== undefined);
  if (found.length === 2 && found[0]?.family === found[1]?.family)
    throw wrong('has two ranges of the same family');
  return found;
}

/** `30000-32767`, or `30000+2767`. @throws UsageError */
export function parseNodePortRange(text: string): { first: number; last: number } {
  const match = /^(\d+)(?:([-+])(\d+))?$/.exec(text.trim());
  const first = Number(match?.[1]);
  const second = Number(match?.[3] ?? first);
  const last = match?.[2] === '+' ? first + second : second;
  if (match === null || first < 1 || last < first || last > LAST_PORT) {
    throw new UsageError(
      `--service-node-port-range: ${JSON.stringify(text)} is not a range of ports such as 30000-32767`,
    );
  }
  return { first, last };
}
