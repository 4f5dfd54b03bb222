import { X509Certificate } from 'node:crypto';
import { contextTag, DerReader, TAG, toBoolean, toCount } from './der.ts';
import { type DistinguishedName, readName } from './name.ts';
import {
  type Alternatives,
  type NameConstraints,
  readAlternatives,
  readConstraints,
} from './name-constraints.ts';

/** The fields of a certificate that decide about a chain. Keys, signatures and fingerprints come from OpenSSL. */
export interface Certificate {
  readonly x509: X509Certificate;
  /** 1 or 3. */
  readonly version: number;
  readonly subject: DistinguishedName;
  /** DER. */
  readonly issuer: Buffer;
  readonly signatureAlgorithm: string;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly extensions: Extensions;
}

/** RFC 5280, section 4.1. @throws Error */
export function readCertificate(der: Buffer): Certificate {
  const x509 = new X509Certificate(der);
  // OpenSSL ignores bytes behind the certificate; this reader refuses them.
  const certificate = new DerReader(DerReader.only(der, TAG.sequence));
  const fields = certificate.sequence();
  const version = fields.optional(contextTag(0, { constructed: true }));
  fields.take(TAG.integer);
  const signatureAlgorithm = fields.sequence().oid();
  const issuer = fields.nextOf(TAG.sequence).whole;
  fields.take(TAG.sequence);
  const subject = readName(fields.nextOf(TAG.sequence).whole);
  fields.take(TAG.sequence);
  fields.optional(contextTag(1, { constructed: false }));
  fields.optional(contextTag(2, { constructed: false }));
  const extensions = fields.optional(contextTag(3, { constructed: true }));
  fields.end();
  if (certificate.sequence().oid() !== signatureAlgorithm) {
    throw new Error("x509: inner and outer signature algorithm identifiers don't match");
  }
  return {
    x509,
    version: version === undefined ? 1 : (DerReader.only(version, TAG.integer)[0] ?? 0) + 1,
    subject,
    issuer,
    signatureAlgorithm,
    notBeforeMs: Date.parse(x509.validFrom),
    notAfterMs: Date.parse(x509.validTo),
    extensions: readExtensions(extensions),
  };
}

/** RFC 5280, section 4.2. Undefined for an extension that a certificate lacks. */
interface Extensions {
  readonly basicConstraints?: { readonly isAuthority: boolean; readonly maxPathLength: number | undefined };
  readonly keyUsage?: { readonly signsCertificates: boolean };
  /** Object identifiers. */
  readonly extendedKeyUsage?: readonly string[];
  readonly alternatives?: Alternatives;
  readonly nameConstraints?: NameConstraints;
  /** Critical extensions that are not known here. */
  readonly unknownCritical: readonly string[];
}

const OID = {
  keyUsage: '2.5.29.15',
  alternatives: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Extensions that do not decide whether a chain lets a client in: key ids, policies, places of revocation lists. */
const IGNORED_EXTENSIONS: ReadonlySet<string> = new Set(['2.5.29.14', '2.5.29.31', '2.5.29.32', '2.5.29.35']);

/** Undefined: a certificate without extensions. @throws Error, also for a repeated extension */
function readExtensions(explicit: Buffer | undefined): Extensions {
  const unknownCritical: string[] = [];
  if (explicit === undefined) return { unknownCritical };
  const values = new Map<string, Buffer>();
  const list = new DerReader(DerReader.only(explicit, TAG.sequence));
  while (!list.isAtEnd) {
    const extension = list.sequence();
    const id = extension.oid();
    const critical = extension.optional(TAG.boolean);
    const value = extension.take(TAG.octetString);
    extension.end();
    if (values.has(id)) throw new Error('x509: certificate contains duplicate extensions');
    values.set(id, value);
    const isCritical = critical !== undefined && toBoolean(critical);
    if (isCritical && !isHandled(id, value)) unknownCritical.push(id);
  }
  return { ...readKnown(values), unknownCritical };
}

function isHandled(id: string, value: Buffer): boolean {
  if (IGNORED_EXTENSIONS.has(id)) return true;
  // Names of unknown kinds cannot be checked.
  if (id === OID.alternatives) return readAlternatives(value).isComparable;
  if (id === OID.nameConstraints) return readConstraints(value).isWhole;
  return Object.values(OID).some((known) => known === id);
}

function readKnown(values: ReadonlyMap<string, Buffer>): Omit<Extensions, 'unknownCritical'> {
  const read = <T>(id: string, parse: (value: Buffer) => T): T | undefined => {
    const value = values.get(id);
    return value === undefined ? undefined : parse(value);
  };
  const found = {
    basicConstraints: read(OID.basicConstraints, readBasicConstraints),
    keyUsage: read(OID.keyUsage, readKeyUsage),
    extendedKeyUsage: read(OID.extendedKeyUsage, readUsages),
    alternatives: read(OID.alternatives, readAlternatives),
    nameConstraints: read(OID.nameConstraints, readConstraints),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function readBasicConstraints(value: Buffer): NonNullable<Extensions['basicConstraints']> {
  const fields = new DerReader(DerReader.only(value, TAG.sequence));
  const isAuthority = fields.optional(TAG.boolean);
  const length = fields.optional(TAG.integer);
  fields.end();
  return {
    isAuthority: isAuthority !== undefined && toBoolean(isAuthority),
    maxPathLength: length === undefined ? undefined : toCount(length),
  };
}

/** Bit 5, counted from the left (RFC 5280, section 4.2.1.3). */
function readKeyUsage(value: Buffer): NonNullable<Extensions['keyUsage']> {
  const [, bits = 0] = DerReader.only(value, TAG.bitString);
  return { signsCertificates: (bits & 0x04) !== 0 };
}

function readUsages(value: Buffer): string[] {
  const list = new DerReader(DerReader.only(value, TAG.sequence));
  const usages: string[] = [];
  while (!list.isAtEnd) usages.push(list.oid());
  return usages;
}
