import 'reflect-metadata';
import { createPrivateKey, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { readCertificate } from './certificate.ts';
import type { CertificationRequest } from './certification-request.ts';
import { writeAlternatives } from './name-constraints.ts';
import { certificatesIn } from './pem.ts';

/**
 * Signs certificates. Import it where the first one is signed: the library behind it takes a while to load.
 */

/** An authority's certificate and key in PEM form. */
interface AuthorityPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Issuer {
  readonly certificate: x509.X509Certificate;
  readonly key: webcrypto.CryptoKey;
}

x509.cryptoProvider.set(crypto);

/** Keys in PKCS #8, PKCS #1 and SEC 1. @throws Error */
export async function readIssuer({ certificate, key }: AuthorityPair): Promise<Issuer> {
  const [der, ...others] = certificatesIn(certificate);
  if (der === undefined || others.length > 0)
    throw new Error(`an authority has one certificate, and the file holds ${others.length + (der ? 1 : 0)}`);
  const privateKey = createPrivateKey(key);
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  const algorithm = algorithmOf(privateKey);
  return {
    certificate: new x509.X509Certificate(der),
    key: await webcrypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
  };
}

const CURVES: ReadonlyMap<string | undefined, string> = new Map([
  ['prime256v1', 'P-256'],
  ['secp384r1', 'P-384'],
  ['secp521r1', 'P-521'],
]);

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: ReturnType<typeof createPrivateKey>) {
  if (asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  if (asymmetricKeyType === 'ed25519') return { name: 'Ed25519' };
  const namedCurve = CURVES.get(asymmetricKeyDetails?.namedCurve);
  if (namedCurve !== undefined) return { name: 'ECDSA', namedCurve };
  throw new Error(`a key of type ${asymmetricKeyType} cannot sign: it must be RSA, ECDSA or Ed25519`);
}

/** How long a certificate is valid, and for what. Milliseconds since 1970; names of usages as in the API. */
export interface IssuingPolicy {
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly usages: readonly string[];
}

/**
 * Signs what the request asks for: its subject, key and names. Everything else is the policy's, so that no request makes an
 * authority or adds extensions. Answers PEM.
 * @throws Error
 */
export async function issueCertificate(
  { certificate: authority, key }: Issuer,
  { subject, publicKey, names }: CertificationRequest,
  { notBeforeMs, notAfterMs, usages }: IssuingPolicy,
): Promise<string> {
  const issued = await x509.X509CertificateGenerator.create({
    subject: new x509.Name(subject.raw),
    issuer: authority.subjectName,
    publicKey: new x509.PublicKey(publicKey),
    signingKey: key,
    signingAlgorithm: { name: key.algorithm.name, hash: 'SHA-256' },
    notBefore: new Date(notBeforeMs),
    notAfter: new Date(notAfterMs),
    extensions: [
      ...usageExtensions(usages),
      new x509.BasicConstraintsExtension(false, undefined, true),
      ...authorityKeyId(authority),
      ...(names.length === 0
        ? []
        : [new x509.Extension('2.5.29.17', subject.raw.length === 2, writeAlternatives(names))]),
    ],
  });
  const written = readCertificate(Buffer.from(issued.rawData));
  // Chains are built by comparing these bytes, and users are known by them: the library must not have written them anew.
  const issuer = Buffer.from(authority.subjectName.toArrayBuffer());
  if (!written.subject.raw.equals(subject.raw) || !written.issuer.equals(issuer))
    throw new Error('the names of the certificate cannot be written as they were requested');
  return `${issued.toString('pem')}\n`;
}

const { KeyUsageFlags, ExtendedKeyUsage } = x509;

const KEY_USAGES: ReadonlyMap<string, number> = new Map([
  ['signing', KeyUsageFlags.digitalSignature],
  ['digital signature', KeyUsageFlags.digitalSignature],
  ['content commitment', KeyUsageFlags.nonRepudiation],
  ['key encipherment', KeyUsageFlags.keyEncipherment],
  ['key agreement', KeyUsageFlags.keyAgreement],
  ['data encipherment', KeyUsageFlags.dataEncipherment],
  ['cert sign', KeyUsageFlags.keyCertSign],
  ['crl sign', KeyUsageFlags.cRLSign],
  ['encipher only', KeyUsageFlags.encipherOnly],
  ['decipher only', KeyUsageFlags.decipherOnly],
]);

const EXTENDED_USAGES: ReadonlyMap<string, string> = new Map([
  ['any', '2.5.29.37.0'],
  ['server auth', ExtendedKeyUsage.serverAuth],
  ['client auth', ExtendedKeyUsage.clientAuth],
  ['code signing', ExtendedKeyUsage.codeSigning],
  ['email protection', ExtendedKeyUsage.emailProtection],
  ['s/mime', ExtendedKeyUsage.emailProtection],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', ExtendedKeyUsage.timeStamping],
  ['ocsp signing', ExtendedKeyUsage.ocspSigning],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]);

/** @throws Error for a usage that the API does not have */
function usageExtensions(usages: readonly string[]): x509.Extension[] {
  const unknown = usages.filter((usage) => !KEY_USAGES.has(usage) && !EXTENDED_USAGES.has(usage));
  if (unknown.length > 0) throw new Error(`unrecognized usage values: ${JSON.stringify(unknown)}`);
  const flags = usages.reduce((sum, usage) => sum | (KEY_USAGES.get(usage) ?? 0), 0);
  const extended = new Set(usages.flatMap((usage) => EXTENDED_USAGES.get(usage) ?? []));
  return [
    ...(flags === 0 ? [] : [new x509.KeyUsagesExtension(flags, true)]),
    ...(extended.size === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...extended])]),
  ];
}

/** RFC 5280, section 4.2.1.1: the same id as in the authority's certificate. */
function authorityKeyId(authority: x509.X509Certificate): x509.Extension[] {
  const own = authority.getExtension(x509.SubjectKeyIdentifierExtension);
  return own === null ? [] : [new x509.AuthorityKeyIdentifierExtension(own.keyId)];
}
