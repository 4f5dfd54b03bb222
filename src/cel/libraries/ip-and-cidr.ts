import type { Environment } from '@marcbachmann/cel-js';
import {
  contains,
  equalBytes,
  formatIp,
  networkBytes,
  parseCidr,
  parseIp,
  readStrictCidr,
  readStrictIp,
} from '../../object/ip.ts';
import { succeeds } from './succeeds.ts';

class CelIp {
  readonly bytes: readonly number[];

  constructor(bytes: readonly number[]) {
    this.bytes = bytes;
  }

  equals(other: unknown): boolean {
    return other instanceof CelIp && equalBytes(this.bytes, other.bytes);
  }

  get family(): 4 | 6 {
    return this.bytes.length === 4 ? 4 : 6;
  }

  toString(): string {
    return formatIp(this.bytes);
  }
}

class CelCidr {
  readonly bytes: readonly number[];
  readonly prefixBits: number;

  constructor(bytes: readonly number[], prefixBits: number) {
    this.bytes = bytes;
    this.prefixBits = prefixBits;
  }

  get family(): 4 | 6 {
    return this.bytes.length === 4 ? 4 : 6;
  }

  equals(other: unknown): boolean {
    return (
      other instanceof CelCidr && equalBytes(this.bytes, other.bytes) && this.prefixBits === other.prefixBits
    );
  }

  toString(): string {
    return `${formatIp(this.bytes)}/${this.prefixBits}`;
  }
}

/** The namespace in `ip.isCanonical(…)`, and the types by their names. */
class IpNamespace {}

const IP = 'net.IP';
const CIDR = 'net.CIDR';

/** Addresses and ranges of them (Kubernetes: cel/library, ip and cidr). */
export function registerAddresses(environment: Environment): Environment {
  registerCidrs(registerIps(environment.registerType(IP, CelIp).registerType(CIDR, CelCidr)));
  // Only an expression gives the library's value for a type: `type(ip('::1')) == net.IP`.
  const types = {
    IP: environment.evaluate("type(ip('::1'))"),
    CIDR: environment.evaluate("type(cidr('::/0'))"),
  };
  return environment.registerConstant('net', 'map<string, type>', types);
}

function registerIps(environment: Environment): Environment {
  return environment
    .registerType('net.IPFunctions', IpNamespace)
    .registerConstant('ip', 'net.IPFunctions', new IpNamespace())
    .registerOperator(`${IP} == ${IP}`, (a: CelIp, b: CelIp) => a.equals(b))
    .registerFunction(`ip(string): ${IP}`, readIp)
    .registerFunction('isIP(string): bool', (text: string) => succeeds(() => readIp(text)))
    .registerFunction(
      'net.IPFunctions.isCanonical(string): bool',
      (_: IpNamespace, text: string) => readIp(text).toString() === text,
    )
    .registerFunction(`string(${IP}): string`, (ip: CelIp) => ip.toString())
    .registerFunction(`${IP}.family(): int`, ({ family }: CelIp) => BigInt(family))
    .registerFunction(`${IP}.isUnspecified(): bool`, isUnspecified)
    .registerFunction(`${IP}.isLoopback(): bool`, isLoopback)
    .registerFunction(`${IP}.isLinkLocalMulticast(): bool`, isLinkLocalMulticast)
    .registerFunction(`${IP}.isLinkLocalUnicast(): bool`, isLinkLocalUnicast)
    .registerFunction(`${IP}.isGlobalUnicast(): bool`, isGlobalUnicast);
}

function registerCidrs(environment: Environment): Environment {
  return environment
    .registerOperator(`${CIDR} == ${CIDR}`, (a: CelCidr, b: CelCidr) => a.equals(b))
    .registerFunction(`cidr(string): ${CIDR}`, readCidr)
    .registerFunction('isCIDR(string): bool', (text: string) => succeeds(() => readCidr(text)))
    .registerFunction(`string(${CIDR}): string`, (cidr: CelCidr) => cidr.toString())
    .registerFunction(`${CIDR}.containsIP(${IP}): bool`, containsIp)
    .registerFunction(`${CIDR}.containsIP(string): bool`, (cidr: CelCidr, text: string) =>
      containsIp(cidr, readIp(text)),
    )
    .registerFunction(`${CIDR}.containsCIDR(${CIDR}): bool`, containsCidr)
    .registerFunction(`${CIDR}.containsCIDR(string): bool`, (cidr: CelCidr, text: string) =>
      containsCidr(cidr, readCidr(text)),
    )
    .registerFunction(`${CIDR}.ip(): ${IP}`, ({ bytes }: CelCidr) => new CelIp(bytes))
    .registerFunction(`${CIDR}.prefixLength(): int`, ({ prefixBits }: CelCidr) => BigInt(prefixBits))
    .registerFunction(
      `${CIDR}.masked(): ${CIDR}`,
      ({ bytes, prefixBits }: CelCidr) => new CelCidr(networkBytes(bytes, prefixBits), prefixBits),
    );
}

/** Addresses are shorter, and a long text takes long to parse. */
const MAX_LENGTH = 128;

function readIp(text: string): CelIp {
  if (text.length > MAX_LENGTH)
    throw new Error('IP Address parse error during conversion from string: unable to parse IP');
  const strict = readStrictIp(text);
  if (strict.kind === 'bad')
    throw new Error(
      `IP Address ${JSON.stringify(text)} parse error during conversion from string: ${strict.why}`,
    );
  if (text.includes('%'))
    throw new Error(`IP address ${JSON.stringify(text)} with zone value is not allowed`);
  const bytes = parseIp(text)?.bytes ?? [];
  if (text.includes(':') && bytes.length === 4)
    throw new Error(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return new CelIp(bytes);
}

function readCidr(text: string): CelCidr {
  const failed = 'network address parse error during conversion from string: ';
  const strict = readStrictCidr(text);
  if (strict.kind === 'bad') throw new Error(failed + failed + strict.why);
  const range = parseCidr(text);
  if (range === undefined || (text.includes(':') && range.family === 4))
    throw new Error(`${failed}IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
  return new CelCidr(range.bytes, range.prefixBits);
}

const containsIp = (cidr: CelCidr, ip: CelIp): boolean =>
  contains(cidr, { family: ip.family, bytes: ip.bytes, prefixBits: ip.bytes.length * 8 });

const containsCidr = (cidr: CelCidr, inner: CelCidr): boolean =>
  contains(cidr, inner) && cidr.prefixBits <= inner.prefixBits;

const isUnspecified = ({ bytes }: CelIp): boolean => bytes.every((byte) => byte === 0);

function isLoopback({ bytes }: CelIp): boolean {
  if (bytes.length === 4) return bytes[0] === 127;
  return bytes.slice(0, -1).every((byte) => byte === 0) && bytes.at(-1) === 1;
}

function isLinkLocalMulticast({ bytes: [first, second = 0, third], family }: CelIp): boolean {
  return family === 4
    ? first === 224 && second === 0 && third === 0
    : first === 0xff && (second & 0x0f) === 0x02;
}

function isLinkLocalUnicast({ bytes: [first, second = 0], family }: CelIp): boolean {
  return family === 4 ? first === 169 && second === 254 : first === 0xfe && (second & 0xc0) === 0x80;
}

function isMulticast({ bytes: [first = 0], family }: CelIp): boolean {
  return family === 4 ? (first & 0xf0) === 0xe0 : first === 0xff;
}

function isGlobalUnicast(ip: CelIp): boolean {
  const broadcast = ip.family === 4 && ip.bytes.every((byte) => byte === 255);
  return !broadcast && !isUnspecified(ip) && !isLoopback(ip) && !isMulticast(ip) && !isLinkLocalUnicast(ip);
}
