import { X509Certificate } from 'node:crypto';
import { contextTag, DerReader, TAG } from './der.ts';
import { type Extensions, readExtensions } from './extensions.ts';
import { type DistinguishedName, readName } from './name.ts';

/** What a chain is judged by, beside what OpenSSL is asked for: keys, signatures, fingerprints. */
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
  // OpenSSL passes over what follows the certificate.
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
