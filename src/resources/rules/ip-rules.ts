import type { FieldPath } from '../../object/field-path.ts';
import {
  type IpAddress,
  parseIp,
  readStrictCidr,
  readStrictIp,
  type StrictReading,
} from '../../object/ip.ts';
import { checkCidr, checkIp } from '../../object/text-formats.ts';
import { type Ratchet, ratchetOf } from './checked.ts';

/** IP addresses, and ranges of them. */

/** Where this feature is on, addresses that programs read in different ways are refused. */
const STRICT = 'StrictIPCIDRValidation';

export function mustBeIp(at: FieldPath, address: string): void {
  const wrong = checkIp(address);
  at.invalidFor(address, wrong.length === 0 && at.isOn(STRICT) ? ambiguousIp(address) : wrong);
}

/** Good in each version: an address that all programs read alike, and write so. */
export function mustBeCanonicalIp(at: FieldPath, address: string): void {
  const wrong = checkIp(address);
  mustBeRead(at, address, wrong.length === 0 ? ambiguousIp(address) : wrong, readStrictIp(address));
}

/** Likewise a range of addresses. */
export function mustBeCanonicalCidr(at: FieldPath, range: string): void {
  const wrong = checkCidr(range);
  mustBeRead(at, range, wrong.length === 0 ? ambiguousCidr(range) : wrong, readStrictCidr(range));
}

function mustBeRead(at: FieldPath, text: string, problems: readonly string[], reading: StrictReading): void {
  if (problems.length > 0) at.invalidFor(text, problems);
  else if (reading.kind === 'good' && reading.canonical !== text)
    at.invalid(text, `must be in canonical form (${JSON.stringify(reading.canonical)})`);
}

export function mustBeCidr(at: FieldPath, range: string): void {
  const wrong = checkCidr(range);
  at.invalidFor(range, wrong.length === 0 && at.isOn(STRICT) ? ambiguousCidr(range) : wrong);
}

/** Programs differ in whether leading zeros are octal, and in whether `::ffff:10.0.0.1` is 10.0.0.1. */
const ambiguousIp = (address: string): string[] => [
  ...(readStrictIp(address).kind === 'bad' ? ['must not have leading 0s'] : []),
  ...(isMapped(address) ? ['must not be an IPv4-mapped IPv6 address'] : []),
];

function ambiguousCidr(range: string): string[] {
  const reading = readStrictCidr(range);
  if (reading.kind === 'bad') return ['must not have leading 0s in IP or prefix length'];
  if (isMapped(range.split('/')[0] ?? '')) return ['must not have an IPv4-mapped IPv6 address'];
  return reading.masked ? [] : ['must not have bits set beyond the prefix length'];
}

const isMapped = (address: string): boolean => address.includes(':') && parseIp(address)?.family === 4;

/** Addresses that were stored while the feature was off. */
export const AMBIGUOUS: Ratchet = {
  ...ratchetOf(/./, /must not (have leading 0s|(have|be) an IPv4-mapped|have bits set beyond)/),
  sameValue: true,
};

/**
 * An address behind a service must mean the same machine to all its readers: it must not be unspecified, loopback, link-local
 * or link-local multicast (IANA's registries of special addresses).
 */
export function mustNotBeSpecialIp(at: FieldPath, address: string): void {
  const ip = parseIp(address);
  if (ip === undefined) at.invalid(address, 'must be a valid IP address');
  else at.invalidFor(address, specialUses(ip, address));
}

function specialUses(ip: IpAddress, text: string): string[] {
  const uses: string[] = [];
  if (ip.bytes.every((byte) => byte === 0)) uses.push(`may not be unspecified (${text})`);
  if (isLoopback(ip)) uses.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if (isLinkLocal(ip)) uses.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  if (isLinkLocalMulticast(ip))
    uses.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  return uses;
}

function isLoopback({ family, bytes }: IpAddress): boolean {
  if (family === 4) return bytes[0] === 127;
  return bytes.slice(0, -1).every((byte) => byte === 0) && bytes.at(-1) === 1;
}

function isLinkLocal({ family, bytes: [first = 0, second = 0] }: IpAddress): boolean {
  return family === 4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80;
}

function isLinkLocalMulticast({ family, bytes: [first = 0, second = 0, third = 0] }: IpAddress): boolean {
  if (family === 4) return first === 224 && second === 0 && third === 0;
  return first === 0xff && (second & 0x0f) === 0x02;
}
