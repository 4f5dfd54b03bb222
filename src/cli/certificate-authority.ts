import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { readIssuer } from '../x509/issuing.ts';
import type { KeyPair } from './kept-keys.ts';

/** Makes certificates. In a file of its own, so that a start with existing certificates need not load the library. */

const DAY_MS = 24 * 60 * 60 * 1000;
const CA_DAYS = 3650;
const LEAF_DAYS = 365;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

export async function createAuthority(): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=pg-apiserver-ca',
    keys,
    ...validity(CA_DAYS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return toPem(certificate, keys.privateKey);
}

export interface LeafOptions {
  readonly subject: string;
  readonly names: readonly string[];
  readonly ips: readonly string[];
}

/** With names it makes a server's certificate, without a client's. */
export async function createLeaf(authority: KeyPair, { subject, names, ips }: LeafOptions): Promise<KeyPair> {
  const issuer = await readIssuer(authority);
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const alternatives = [
    ...names.map((value) => ({ type: 'dns', value }) as const),
    ...ips.map((value) => ({ type: 'ip', value }) as const),
  ];
  const usage = alternatives.length > 0 ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer.certificate.subject,
    publicKey: keys.publicKey,
    signingKey: issuer.key,
    ...validity(LEAF_DAYS),
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([usage]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.certificate),
      ...(alternatives.length > 0 ? [new x509.SubjectAlternativeNameExtension(alternatives)] : []),
    ],
  });
  return toPem(certificate, keys.privateKey);
}

/** Valid from a minute ago: clocks of clients differ. */
function validity(days: number): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + days * DAY_MS) };
}

async function toPem(certificate: x509.X509Certificate, key: webcrypto.CryptoKey): Promise<KeyPair> {
  const der = await webcrypto.subtle.exportKey('pkcs8', key);
  return {
    certificate: `${certificate.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(der, 'PRIVATE KEY')}\n`,
  };
}
