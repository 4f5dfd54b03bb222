import { equalBytes, ipv4Bytes, ipv6Bytes, isMapped, networkBytes } from './ip.ts';

/**
 * Strict readings of addresses and ranges, for fields that want the canonical form of RFC 5952 and warnings about others.
 * The reasons are the words of Go's net/netip, which Kubernetes passes on.
 */
export type StrictReading =
  | {
      readonly kind: 'good';
      readonly family: 4 | 6;
      readonly canonical: string;
      /** Of a range: no bit is set after the prefix. Always true for an address. */
      readonly masked: boolean;
    }
  | { readonly kind: 'bad'; readonly why: string };

const bad = (why: string): StrictReading => ({ kind: 'bad', why });

export function readStrictIp(text: string): StrictReading {
  const parsed = parseStrict(text);
  if ('why' in parsed) return bad(parsed.why);
  const { bytes, zone } = parsed;
  return { kind: 'good', family: familyOf(bytes), canonical: formatIp(bytes) + zone, masked: true };
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
  return { kind: 'good', family: familyOf(bytes), canonical: `${formatIp(bytes)}/${bits}`, masked };
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
  const hex = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (length < 2) return hex(groups);
  return `${hex(groups.slice(0, start))}::${hex(groups.slice(start + length))}`;
}

function longestZeros(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [at, group] of groups.entries()) {
    if (group !== 0) start = at + 1;
    else if (at + 1 - start > best.length) best = { start, length: at + 1 - start };
  }
  return best;
}
