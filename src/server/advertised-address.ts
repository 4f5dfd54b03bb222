import { networkInterfaces } from 'node:os';
import { isIpv6, parseIp } from '../object/ip.ts';

/**
 * Where other members of the cluster reach this server: --advertise-address, or the address it is bound to, or the host's
 * own. Undefined where nobody outside can, because it listens to the loopback alone or the host has no other address.
 */
export function findAdvertisedAddress(advertised: string, bound: string): string | undefined {
  if (advertised !== '') return advertised;
  if (isUnspecified(bound)) return hostAddress();
  return isLoopback(bound) ? undefined : bound;
}

/**
 * What service default/kubernetes points to: as above, but a server that listens to the loopback alone is there as well, under
 * the host's address, because controllers and clients count on a service that has endpoints (kube-apiserver does the same). An
 * address of the loopback may not stand there. Undefined where the host has no other.
 */
export function findEndpointAddress(advertised: string, bound: string): string | undefined {
  return findAdvertisedAddress(advertised, bound) ?? hostAddress();
}

const isUnspecified = (address: string): boolean => address === '' || /^[0:.]+$/.test(address);
const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.');

function hostAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !/^fe80:/i.test(address));
  return (outside.find(({ family }) => family === 'IPv4') ?? outside[0])?.address;
}

const DEFAULT_RANGE = '10.0.0.0/24';

/** The first address of the first of --service-cluster-ip-range: `10.0.0.0/24` → `10.0.0.1`. */
export function firstServiceAddress(ranges: string): string {
  const [range = ''] = (ranges === '' ? DEFAULT_RANGE : ranges).split(',');
  const [network = '', prefix = ''] = range.trim().split('/');
  const bytes = [...(parseIp(network)?.bytes ?? [])];
  const bits = Number(prefix);
  const masked = bytes.map((byte, at) => {
    const kept = Math.min(Math.max(bits - at * 8, 0), 8);
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  masked[masked.length - 1] = (masked.at(-1) ?? 0) + 1;
  if (!isIpv6(network)) return masked.join('.');
  const groups = Array.from(
    { length: 8 },
    (_, at) => ((masked[at * 2] ?? 0) << 8) | (masked[at * 2 + 1] ?? 0),
  );
  return canonicalIp(groups.map((group) => group.toString(16)).join(':'));
}

/** RFC 5952, by way of the one place in the platform that writes it. */
const canonicalIp = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);
