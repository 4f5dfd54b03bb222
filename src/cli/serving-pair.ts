import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PairFiles } from '../http/serving-tls.ts';
import type { ServerOptions } from '../options/options.ts';
import { certificatesIn } from '../x509/pem.ts';
import type { ClusterCertificates } from './certificates.ts';

/** --tls-cert-file and --tls-private-key-file, or else the pair made for this server. */
export const chooseServingPair = (options: ServerOptions, own: PairFiles): PairFiles =>
  options.tlsCertFile === '' ? own : { certFile: options.tlsCertFile, keyFile: options.tlsKeyFile };

/** What verifies the certificate of --tls-cert-file, or else of the pair made for this server, in PEM form. @throws Error */
export function readServingCa({ tlsCertFile }: ServerOptions, { ca }: ClusterCertificates): string {
  return tlsCertFile === '' ? ca : findAuthority(readFileSync(tlsCertFile, 'utf8'), ca);
}

/**
 * The cluster's own authority where it signed the certificate. Else the chain is all that is known of whoever did: its root
 * where it has one; without, the certificates between, and without those the certificate itself, which many clients trust as
 * they trust an authority.
 */
export function findAuthority(chain: string, own: string): string {
  const [leaf, ...others] = certificatesIn(chain).map((der) => new X509Certificate(der));
  if (leaf === undefined) return own;
  const authority = new X509Certificate(own);
  if (isSigned(leaf, authority)) return own;
  const root = others.find((certificate) => isSigned(certificate, certificate));
  const trusted = root === undefined ? others : [root];
  return (trusted.length === 0 ? [leaf] : trusted).map((certificate) => certificate.toString()).join('');
}

const isSigned = (certificate: X509Certificate, by: X509Certificate): boolean =>
  certificate.checkIssued(by) && certificate.verify(by.publicKey);
