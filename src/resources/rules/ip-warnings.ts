import type { FieldPath } from '../../object/field-path.ts';
import {
  equalBytes,
  formatIp,
  type IpAddress,
  networkBytes,
  parseCidr,
  parseIp,
  readStrictCidr,
  readStrictIp,
  type StrictReading,
} from '../../object/ip.ts';

/**
 * Texts for Warning headers about addresses that programs read in different ways (apimachinery, util/validation/ip.go; before 1.33 those
 * of services alone: api/service, warnings.go).
 */

/** `address` is valid as Kubernetes has always read it. */
export function ipWarnings(at: FieldPath, address: string): string[] {
  const reading = readStrictIp(address);
  if (at.minor < 33)
    return warningsBefore33(at, address, { reading, noun: 'address', subject: 'IP address' });
  const ip = parseIp(address);
  if (ip === undefined) return [];
  const quoted = JSON.stringify(address);
  if (isNonStandard(reading, address, ip))
    return [`${at}: non-standard IP address ${quoted} ${sentenceOf(at)}: use "${formatIp(ip.bytes)}"`];
  if (reading.kind === 'bad' || ip.family === 4 || reading.canonical === address) return [];
  return [`${at}: IPv6 address ${quoted} should be in RFC 5952 canonical format ("${reading.canonical}")`];
}

/** `range` is valid as Kubernetes has always read it. */
export function cidrWarnings(at: FieldPath, range: string): string[] {
  const reading = readStrictCidr(range);
  if (at.minor < 33) return warningsBefore33(at, range, { reading, noun: 'prefix', subject: 'IP prefix' });
  const cidr = parseCidr(range);
  if (cidr === undefined) return [];
  const { bytes, prefixBits } = cidr;
  const network = networkBytes(bytes, prefixBits);
  const whole = `${formatIp(network)}/${prefixBits}`;
  const value = `${at}: CIDR value ${JSON.stringify(range)}`;
  const found: string[] = [];
  if (!equalBytes(network, bytes)) {
    const single = `${formatIp(bytes)}/${range.includes(':') ? 128 : 32}`;
    found.push(`${value} is ambiguous in this context (should be "${whole}" or "${single}"?)`);
  }
  if (isNonStandard(reading, range, cidr))
    found.push(`${at}: non-standard CIDR value ${JSON.stringify(range)} ${sentenceOf(at)}: use "${whole}"`);
  if (found.length > 0 || reading.kind === 'bad' || cidr.family === 4 || reading.canonical === range)
    return found;
  return [
    `${at}: IPv6 CIDR value ${JSON.stringify(range)} should be in RFC 5952 canonical format ("${reading.canonical}")`,
  ];
}

/** Leading zeros, or an IPv4 address that is written as IPv6. */
const isNonStandard = (
  reading: StrictReading,
  text: string,
  { family }: Pick<IpAddress, 'family'>,
): boolean => reading.kind === 'bad' || (family === 4 && text.includes(':'));

const sentenceOf = (at: FieldPath): string =>
  at.minor < 36 ? 'will be considered invalid in a future Kubernetes release' : 'is invalid';

interface Read {
  readonly reading: StrictReading;
  readonly noun: string;
  readonly subject: string;
}

function warningsBefore33(at: FieldPath, value: string, { reading, noun, subject }: Read): string[] {
  if (reading.kind === 'bad')
    return [
      `${at}: ${subject} was accepted, but will be invalid in a future Kubernetes release: ${reading.why}`,
    ];
  const { family, canonical } = reading;
  if (family === 4 || canonical === value) return [];
  const quoted = JSON.stringify(value);
  return [
    `${at}: IPv6 ${noun} ${quoted} is not in RFC 5952 canonical format (${JSON.stringify(canonical)}), which may cause controller apply-loops`,
  ];
}

/** More than a response has room for (http/response-headers.ts). */
const MOST_WARNINGS = 100;

/** The warnings about the items of a list that may be very long. */
export function warningsOfEach<Item>(
  items: Iterable<readonly [FieldPath, Item, ...unknown[]]>,
  warningsOf: (at: FieldPath, item: Item) => readonly string[],
): string[] {
  const found: string[] = [];
  for (const [at, item] of items) {
    found.push(...warningsOf(at, item));
    if (found.length >= MOST_WARNINGS) break;
  }
  return found;
}

/** Warnings about fields that had none before 1.33. */
export const ipWarningsSince33 = (at: FieldPath, address: string): string[] =>
  at.minor < 33 ? [] : ipWarnings(at, address);

export const cidrWarningsSince33 = (at: FieldPath, range: string): string[] =>
  at.minor < 33 ? [] : cidrWarnings(at, range);
