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
  /** The address as written, host bits included. */
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

export const isIpv6 = (text: string): boolean => text.includes(':') && parseIp(text)?.family === 6;

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
const isMapped = (bytes: readonly number[]): boolean =>
  bytes[10] === 0xff && bytes[11] === 0xff && bytes.findIndex((byte) => byte !== 0) === 10;

const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const DOT = 0x2e;
const LETTER_A = 0x61;
const LETTER_F = 0x66;

/** Character by character, because lists of addresses are long. */
function ipv4Bytes(text: string): number[] | undefined {
  const bytes: number[] = [];
  // Below zero: no digit was read yet.
  let byte = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at === text.length ? DOT : text.charCodeAt(at);
    const digit = code - ZERO;
    if (digit >= 0 && digit <= 9) byte = Math.max(byte, 0) * 10 + digit;
    else if (code === DOT && byte >= 0) {
      bytes.push(byte);
      byte = -1;
    } else return undefined;
    if (byte > 0xff || bytes.length > 4) return undefined;
  }
  return bytes.length === 4 ? bytes : undefined;
}

const ZEROS: readonly number[] = new Array<number>(IPV6_BYTES).fill(0);

/** Character by character too. Groups of four digits, of which `::` leaves out some; the last two may be an IPv4 address. */
function ipv6Bytes(text: string): number[] | undefined {
  const bytes: number[] = [];
  const isLeading = text.startsWith('::');
  // Where `::` stands, if it does.
  let gap = isLeading ? 0 : -1;
  let at = isLeading ? 2 : 0;
  while (at < text.length) {
    const start = at;
    let group = 0;
    while (at < text.length) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit < 0) break;
      group = group * 16 + digit;
      at += 1;
    }
    const end = at < text.length ? text.charCodeAt(at) : -1;
    if (end === DOT) {
      const embedded = ipv4Bytes(text.slice(start));
      if (embedded === undefined) return undefined;
      bytes.push(...embedded);
      break;
    }
    if (at === start || at - start > 4) return undefined;
    bytes.push(group >> 8, group & 0xff);
    if (at === text.length) break;
    if (end !== COLON || at + 1 === text.length) return undefined;
    at += 1;
    if (text.charCodeAt(at) !== COLON) continue;
    if (gap >= 0) return undefined;
    gap = bytes.length;
    at += 1;
  }
  const zeros = IPV6_BYTES - bytes.length;
  if (gap < 0) return zeros === 0 ? bytes : undefined;
  if (zeros < 2) return undefined;
  const whole = ZEROS.slice();
  for (let index = 0; index < bytes.length; index += 1)
    whole[index < gap ? index : index + zeros] = bytes[index] ?? 0;
  return whole;
}

/** Below zero: there is none. */
function hexDigit(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  const letter = code | 0x20;
  return letter >= LETTER_A && letter <= LETTER_F ? letter - LETTER_A + 10 : -1;
}

/**
 * Strict parsing of addresses and ranges, for fields that require the canonical form of RFC 5952 and for warnings elsewhere.
 * The reasons have the words of Go's net/netip, which Kubernetes passes on.
 */
export type StrictReading =
  | {
      readonly kind: 'good';
      readonly family: 4 | 6;
      readonly canonical: string;
      /** Whether a range has no bit set after its prefix. Always true for an address. */
      readonly masked: boolean;
    }
  | { readonly kind: 'bad'; readonly why: string };

const bad = (why: string): StrictReading => ({ kind: 'bad', why });

class GoodReading {
  readonly kind = 'good';
  readonly family: 4 | 6;
  readonly masked: boolean;
  readonly #bytes: readonly number[];
  readonly #end: string;

  constructor(bytes: readonly number[], end: string, masked: boolean) {
    this.family = familyOf(bytes);
    this.masked = masked;
    this.#bytes = bytes;
    this.#end = end;
  }

  /** Made when it is asked for: it takes longer than the reading. */
  get canonical(): string {
    return formatIp(this.#bytes) + this.#end;
  }
}

export function readStrictIp(text: string): StrictReading {
  const parsed = parseStrict(text);
  if ('why' in parsed) return bad(parsed.why);
  const { bytes, zone } = parsed;
  return new GoodReading(bytes, zone, true);
}

export function readStrictCidr(text: string): StrictReading {
  const failed = (why: string): StrictReading => bad(`netip.ParsePrefix(${JSON.stringify(text)}): ${why}`);
  const slash = text.lastIndexOf('/');
  if (slash < 0) return failed("no '/'");
  const parsed = parseStrict(text.slice(0, slash));
  if ('why' in parsed) return failed(parsed.why);
  if (parsed.zone !== '') return failed('IPv6 zones cannot be present in a prefix');
  const prefix = text.slice(slash + 1);
  if (!/^(0|[1-9]\d*)$/.test(prefix)) return failed(`bad bits after slash: ${JSON.stringify(prefix)}`);
  const { bytes } = parsed;
  const bits = Number(prefix);
  if (bits > bytes.length * 8) return failed('prefix length out of range');
  const masked = equalBytes(bytes, networkBytes(bytes, bits));
  return new GoodReading(bytes, `/${bits}`, masked);
}

interface Parsed {
  readonly bytes: readonly number[];
  /** With its percent sign; empty for none. */
  readonly zone: string;
}

function parseStrict(text: string): Parsed | { readonly why: string } {
  const failed = (why: string): { why: string } => ({ why: `ParseAddr(${JSON.stringify(text)}): ${why}` });
  const [separator] = /[.:%]/.exec(text) ?? [''];
  if (separator === '%') return failed('missing IPv6 address');
  if (separator === '.') {
    const bytes = ipv4Bytes(text);
    const why = ipv4Problem(text);
    return bytes === undefined || why !== undefined ? failed(why ?? UNREADABLE) : { bytes, zone: '' };
  }
  const percent = text.indexOf('%');
  const zone = percent < 0 ? '' : text.slice(percent);
  if (zone === '%') return failed('zone must be a non-empty string');
  const bytes = ipv6Bytes(percent < 0 ? text : text.slice(0, percent));
  return bytes === undefined || /[:.]0\d+(\.|$)/.test(text) ? failed(UNREADABLE) : { bytes, zone };
}

const UNREADABLE = 'unable to parse IP';

function ipv4Problem(text: string): string | undefined {
  const fields = text.split('.');
  let start = 0;
  for (const [at, field] of fields.entries()) {
    const wrong = field.search(/\D/);
    if (wrong >= 0) return `unexpected character (at ${JSON.stringify(text.slice(start + wrong))})`;
    if (/^0\d/.test(field)) return 'IPv4 field has octet with leading zero';
    if (Number(field) > 0xff) return 'IPv4 field has value >255';
    if (field === '') {
      const dot = at === fields.length - 1 ? start - 1 : start;
      return `IPv4 field must have at least one digit (at ${JSON.stringify(text.slice(dot))})`;
    }
    start += field.length + 1;
  }
  if (fields.length === 4) return undefined;
  return fields.length > 4 ? 'IPv4 address too long' : 'IPv4 address too short';
}

const familyOf = (bytes: readonly number[]): 4 | 6 => (bytes.length === 4 ? 4 : 6);

/** RFC 5952: lower case, and the longest run of zero groups, the first of equally long ones, as `::`. */
export function formatIp(bytes: readonly number[]): string {
  if (bytes.length === 4) return bytes.join('.');
  if (isMapped(bytes)) return `::ffff:${bytes.slice(12).join('.')}`;
  const groups: number[] = [];
  for (let at = 0; at < bytes.length; at += 2) groups.push(((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0));
  const { start, length } = longestZeros(groups);
  let text = '';
  for (let at = 0; at < groups.length; at += 1) {
    const isLeftOut = length > 1 && at >= start && at < start + length;
    if (isLeftOut) text += at === start ? '::' : '';
    else text += `${text === '' || text.endsWith(':') ? '' : ':'}${(groups[at] ?? 0).toString(16)}`;
  }
  return text;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  const best = { start: 0, length: 0 };
  let start = 0;
  for (let at = 0; at < groups.length; at += 1) {
    if (groups[at] !== 0) start = at + 1;
    else if (at + 1 - start > best.length) {
      best.start = start;
      best.length = at + 1 - start;
    }
  }
  return best;
}
