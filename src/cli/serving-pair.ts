import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { PairFiles } from '../http/serving-tls.ts';
import type { ServerOptions } from '../options/options.ts';
import type { TlsOptions } from '../options/tls.ts';
import { certificatesIn } from '../x509/pem.ts';
import type { ClusterCertificates, ServedAt } from './certificates.ts';

/**
 * The pair from the flags, or the authority made for this cluster. Undefined: the server takes client certificates of another
 * authority, whose key it does not have.
 */
export function chooseSigningPair(
  { signing: { certFile, keyFile }, authentication }: Pick<ServerOptions, 'signing' | 'authentication'>,
  { caFile, caKeyFile }: ClusterCertificates,
): PairFiles | undefined {
  if (certFile !== '') return { certFile, keyFile };
  return authentication.clientCaFile === '' ? { certFile: caFile, keyFile: caKeyFile } : undefined;
}

/** The authorities that verify the pair's certificate, in PEM form. @throws Error */
export function readServingCa({ certFile }: TlsOptions, { ca }: ClusterCertificates): string {
  return certFile === '' ? ca : findAuthority(readFileSync(certFile, 'utf8'), ca);
}

/**
 * Returns the cluster's own authority if it signed the certificate. Otherwise the chain must identify the signer: its root if
 * present, else the intermediate certificates, else the certificate itself, which many clients trust like an authority.
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

/** Undefined where the host is a name or an address of the certificate; else a name that it has. */
function findOtherName(chain: string, host: string): string | undefined {
  const [der] = certificatesIn(chain);
  if (der === undefined) return undefined;
  const leaf = new X509Certificate(der);
  const isOfHost = isIP(host) === 0 ? leaf.checkHost(host) !== undefined : leaf.checkIP(host) !== undefined;
  if (isOfHost) return undefined;
  return /DNS:([^*,\s][^,\s]*)/.exec(leaf.subjectAltName ?? '')?.[1];
}

/** How clients verify a server at a URL with this host. @throws Error */
export function identifyServer(
  tls: TlsOptions,
  certificates: ClusterCertificates,
  { url, host }: { readonly url: string; readonly host: string },
): ServedAt {
  const ca = readServingCa(tls, certificates);
  const name = tls.certFile === '' ? undefined : findOtherName(readFileSync(tls.certFile, 'utf8'), host);
  return name === undefined ? { url, ca } : { url, ca, name };
}

const isSigned = (certificate: X509Certificate, by: X509Certificate): boolean =>
  certificate.checkIssued(by) && certificate.verify(by.publicKey);
