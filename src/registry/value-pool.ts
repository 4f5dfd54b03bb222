import { formatIp, type IpRange, networkBytes, parseIp } from '../object/ip.ts';

/** Cluster-unique values, numbered from 0. The pool does not know which of them are held. */
export interface ValuePool {
  readonly name: string;
  /** In the usual notation: `10.0.0.0/24`, `30000-32767`. */
  readonly range: string;
  readonly size: number;
  /** The number of first values that belong to the server and are never chosen. */
  readonly reserved: number;
  /** Values from here on are chosen first, so that the first values stay free for explicit requests. */
  readonly dynamicFrom: number;
  valueAt(index: number): string;
  /** The ranges of which the pool consists, with the number of values in each. */
  readonly parts: readonly RangePart[];
  /** The part of the range that has the value. */
  rangeAt(index: number): string;
  /** Undefined: the value is outside. `size` or more: it is inside, and never chosen. */
  indexOf(value: string): number | undefined;
}

interface RangePart {
  readonly range: string;
  readonly size: number;
}

/** A range that cannot grow gives only so many addresses, as in Kubernetes, whose allocator has a bit for each. */
const MOST_ADDRESSES = { 4: 2 ** 20, 6: 65_536 };
/** The further addresses of a larger range are for services that ask for them. Random numbers go to 2^48. */
const MOST_CHOSEN = 2 ** 47;

interface AddressPoolOptions {
  /** The number of first addresses that belong to the server. */
  readonly reserved: number;
  /** All addresses of the range are used. */
  readonly isWhole: boolean;
}

/** The pools of addresses are named after the API's families. */
type AddressFamily = 'IPv4' | 'IPv6';

/** The addresses of a range without the network address and, in IPv4, the broadcast address. */
export function createAddressPool(cidr: IpRange, { reserved, isWhole }: AddressPoolOptions): ValuePool {
  const { family, prefixBits } = cidr;
  const network = networkBytes(cidr.bytes, prefixBits);
  const first = toNumber(network) + 1n;
  const all = 2 ** (network.length * 8 - prefixBits);
  const ends = family === 4 ? 2 : 1;
  const range = `${formatIp(network)}/${prefixBits}`;
  const size = Math.max(Math.min(all, isWhole ? MOST_CHOSEN : MOST_ADDRESSES[family]) - ends, 0);
  const reach = isWhole ? BigInt(all) - BigInt(ends) : BigInt(size);
  return {
    name: familyName(family),
    range,
    size,
    parts: [{ range, size }],
    reserved: Math.min(reserved, size),
    dynamicFrom: staticBand(all, { least: 16, most: 256, share: 16 }),
    valueAt: (index) => formatIp(toBytes(first + BigInt(index), network.length)),
    rangeAt: () => range,
    indexOf: (value) => {
      const address = parseIp(value);
      if (address?.family !== family) return undefined;
      const index = toNumber(address.bytes) - first;
      return index >= 0n && index < reach ? Math.min(Number(index), size) : undefined;
    },
  };
}

/** Joins pools of one name: the first's values and reservations come first. They must not overlap. */
export function joinPools(first: ValuePool, others: readonly ValuePool[]): ValuePool {
  if (others.length === 0) return first;
  const parts: { readonly pool: ValuePool; readonly from: number }[] = [];
  let size = 0;
  for (const pool of [first, ...others]) {
    parts.push({ pool, from: size });
    size += pool.size;
  }
  const partAt = (index: number) => parts.findLast(({ from }) => from <= index);
  return {
    ...first,
    range: parts.map(({ pool }) => pool.range).join(','),
    size,
    parts: parts.flatMap(({ pool }) => pool.parts),
    valueAt: (index) => {
      const part = partAt(index);
      return part === undefined ? '' : part.pool.valueAt(index - part.from);
    },
    rangeAt: (index) => partAt(index)?.pool.range ?? '',
    indexOf: (value) => {
      for (const { pool, from } of parts) {
        const index = pool.indexOf(value);
        if (index !== undefined) return index < pool.size ? from + index : size;
      }
      return undefined;
    },
  };
}

export const familyName = (family: 4 | 6): AddressFamily => (family === 4 ? 'IPv4' : 'IPv6');

interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Node ports. A number is held for all protocols at once. */
export const NODE_PORTS = 'NodePort';

export function createPortPool({ first, last }: PortRange): ValuePool {
  const size = last - first + 1;
  const range = `${first}-${last}`;
  return {
    name: NODE_PORTS,
    range,
    size,
    parts: [{ range, size }],
    reserved: 0,
    dynamicFrom: staticBand(size, { least: 16, most: 128, share: 32 }),
    valueAt: (index) => String(first + index),
    rangeAt: () => range,
    indexOf: (value) => {
      const port = Number(value);
      return port >= first && port <= last ? port - first : undefined;
    },
  };
}

/** Kubernetes' step function: zero for a small range, then a bounded share of it. */
function staticBand(size: number, { least, most, share }: { least: number; most: number; share: number }) {
  return size <= least ? 0 : Math.min(Math.max(Math.floor(size / share), least), most);
}

const toNumber = (bytes: readonly number[]): bigint =>
  bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);

const toBytes = (number: bigint, length: number): number[] =>
  Array.from({ length }, (_, at) => Number((number >> BigInt((length - 1 - at) * 8)) & 0xffn));
