/**
 * IP addresses and ranges as Kubernetes reads them: fields of an IPv4 address may have leading zeros, zones are no part of an
 * address, and an IPv4 address written as IPv6 (`::ffff:10.0.0.1`) is an IPv4 address.
 */
export interface IpAddress {
  readonly family: 4 | 6;
  /** 4 or 16 of them, most significant first. */
  readonly bytes: readonly number[];
}

export interface IpRange {
  readonly family: 4 | 6;
  /** Of the address as written, host bits included. */
  readonly bytes: readonly number[];
  readonly prefixBits: number;
}

const IPV6_BYTES = 16;
const MAPPED_BITS = 96;

export function parseIp(text: string): IpAddress | undefined {
  const bytes = text.includes(':') ? ipv6Bytes(text) : ipv4Bytes(text);
  if (bytes === undefined) return undefined;
  if (bytes.length === IPV6_BYTES && !isMapped(bytes)) return { family: 6, bytes };
  return { family: 4, bytes: bytes.slice(-4) };
}

/** `10.0.0.0/8`, `2001:db8::/32`. */
export function parseCidr(text: string): IpRange | undefined {
  const slash = text.indexOf('/');
  const prefix = text.slice(slash + 1);
  const address = text.slice(0, Math.max(slash, 0));
  const bytes = address.includes(':') ? ipv6Bytes(address) : ipv4Bytes(address);
  if (bytes === undefined || !/^\d+$/.test(prefix) || Number(prefix) > bytes.length * 8) return undefined;
  const prefixBits = Number(prefix);
  if (bytes.length !== IPV6_BYTES) return { family: 4, bytes, prefixBits };
  if (!isMapped(bytes)) return { family: 6, bytes, prefixBits };
  return { family: 4, bytes: bytes.slice(-4), prefixBits: Math.max(prefixBits - MAPPED_BITS, 0) };
}

export const isIpv6 = (text: string): boolean => parseIp(text)?.family === 6;

/** Whether the first address of a range lies in another range. */
export function contains(range: IpRange, inner: IpRange): boolean {
  if (range.family !== inner.family) return false;
  const network = networkBytes(inner.bytes, inner.prefixBits);
  return equalBytes(networkBytes(network, range.prefixBits), networkBytes(range.bytes, range.prefixBits));
}

/** The bytes without their host bits. */
export function networkBytes(bytes: readonly number[], prefixBits: number): number[] {
  return bytes.map((byte, at) => {
    const kept = Math.min(Math.max(prefixBits - at * 8, 0), 8);
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

export const equalBytes = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

/** `::ffff:a.b.c.d`, RFC 4291, section 2.5.5.2. */
export const isMapped = (bytes: readonly number[]): boolean =>
  bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;

export function ipv4Bytes(text: string): number[] | undefined {
  if (!/^\d+(\.\d+){3}$/.test(text)) return undefined;
  const bytes = text.split('.').map(Number);
  return bytes.every((byte) => byte <= 0xff) ? bytes : undefined;
}

export function ipv6Bytes(text: string): number[] | undefined {
  const [before = '', after, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const head = groupBytes(before, after === undefined);
  if (head === undefined || after === undefined) return head?.length === IPV6_BYTES ? head : undefined;
  const tail = groupBytes(after, true);
  if (tail === undefined) return undefined;
  const zeros = IPV6_BYTES - head.length - tail.length;
  return zeros < 2 ? undefined : [...head, ...new Array<number>(zeros).fill(0), ...tail];
}

/** Groups between colons. The last one of an address may be an IPv4 address. */
function groupBytes(text: string, ends: boolean): number[] | undefined {
  if (text === '') return [];
  const groups = text.split(':');
  const bytes: number[] = [];
  for (const [at, group] of groups.entries()) {
    const embedded = ends && at === groups.length - 1 ? ipv4Bytes(group) : undefined;
    if (embedded === undefined && !/^[0-9a-fA-F]{1,4}$/.test(group)) return undefined;
    const value = Number.parseInt(group, 16);
    bytes.push(...(embedded ?? [value >> 8, value & 0xff]));
  }
  return bytes;
}
