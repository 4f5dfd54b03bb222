import { networkInterfaces } from 'node:os';
import { type IpRange, networkBytes } from '../object/ip.ts';

/**
 * The address at which other members of the cluster reach this server: the advertised one, or the one it is bound to, or the
 * host's own. Undefined where it listens on the loopback alone or the host has no other address.
 */
export function findAdvertisedAddress(advertised: string, bound: string): string | undefined {
  if (advertised !== '') return advertised;
  if (isUnspecified(bound)) return hostAddress();
  return isLoopback(bound) ? undefined : bound;
}

/**
 * The endpoint of service default/kubernetes: as above, but a server that listens on the loopback alone uses the host's address,
 * because controllers and clients expect that the service has endpoints (kube-apiserver does the same). Loopback addresses are
 * not allowed in endpoints. Undefined where the host has no other address.
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

/** The first address of the first range of service addresses: `10.0.0.0/24` → `10.0.0.1`. */
export function firstServiceAddress([range]: readonly IpRange[]): string {
  if (range === undefined) throw new Error('services have no range of addresses');
  const bytes = networkBytes(range.bytes, range.prefixBits);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) + 1;
  if (range.family === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[at * 2] ?? 0) << 8) | (bytes[at * 2 + 1] ?? 0));
  return canonicalIp(groups.map((group) => group.toString(16)).join(':'));
}

/** RFC 5952: URL is the only part of the platform that writes it. */
const canonicalIp = (address: string): string => new URL(`http://[${address}]`).hostname.slice(1, -1);
