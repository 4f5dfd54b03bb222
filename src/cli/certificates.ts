import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { PairFiles } from '../http/tls/serving-tls.ts';
import type { KeyPair, LeafOptions } from './certificate-authority.ts';

/** The certificates of a cluster that has none yet: an authority, one for serving, one for its administrator. */
export interface ClusterCertificates {
  readonly caFile: string;
  readonly ca: string;
  readonly serving: KeyPair & PairFiles;
  readonly admin: KeyPair;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A certificate this close to its end is made anew at the next start. */
const RENEW_DAYS = 30;

const SERVING_NAMES = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];
const SERVING_ADDRESSES = ['127.0.0.1', '::1'];

export interface ServingWishes {
  /** What clients may call the server, beside what every server is called. */
  readonly names?: readonly string[];
  /** --cert-dir: where the serving pair is kept; else with the others. */
  readonly folder?: string;
}

/** Reads them from `folder`, making what is missing, about to expire, or not for the addresses. Keys are for their owner alone. */
export async function ensureCertificates(
  folder: string,
  addresses: readonly string[],
  wishes: ServingWishes = {},
): Promise<ClusterCertificates> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ca = await ensure(
    folder,
    'ca',
    () => true,
    async () => (await import('./certificate-authority.ts')).createAuthority(),
  );
  const names = [...new Set([...SERVING_NAMES, hostname(), ...(wishes.names ?? [])])];
  const ips = [...new Set([...SERVING_ADDRESSES, ...addresses])];
  const { subject } = new X509Certificate(ca.certificate);
  const signed = (certificate: X509Certificate): boolean => certificate.issuer === subject;
  const servingFolder = wishes.folder ?? folder;
  const servingName = wishes.folder === undefined ? 'serving' : 'apiserver';
  mkdirSync(servingFolder, { recursive: true, mode: 0o700 });
  const pair = await ensure(
    servingFolder,
    servingName,
    (certificate) => signed(certificate) && covers(certificate, names, ips),
    () => sign(ca, { subject: 'CN=pg-apiserver', names, ips }),
  );
  const admin = await ensure(folder, 'admin', signed, () =>
    sign(ca, { subject: 'CN=kubernetes-admin, O=system:masters', names: [], ips: [] }),
  );
  const serving = {
    ...pair,
    certFile: join(servingFolder, `${servingName}.crt`),
    keyFile: join(servingFolder, `${servingName}.key`),
  };
  return { caFile: join(folder, 'ca.crt'), ca: ca.certificate, serving, admin };
}

async function ensure(
  folder: string,
  name: string,
  fits: (certificate: X509Certificate) => boolean,
  create: () => Promise<KeyPair>,
): Promise<KeyPair> {
  const certificateFile = join(folder, `${name}.crt`);
  const keyFile = join(folder, `${name}.key`);
  if (existsSync(certificateFile) && existsSync(keyFile)) {
    const certificate = readFileSync(certificateFile, 'utf8');
    const parsed = new X509Certificate(certificate);
    const fresh = parsed.validToDate.getTime() > Date.now() + RENEW_DAYS * DAY_MS;
    if (fresh && fits(parsed)) return { certificate, key: readFileSync(keyFile, 'utf8') };
  }
  const pair = await create();
  writeFileSync(keyFile, pair.key, { mode: 0o600 });
  writeFileSync(certificateFile, pair.certificate);
  return pair;
}

const sign = async (authority: KeyPair, options: LeafOptions): Promise<KeyPair> =>
  (await import('./certificate-authority.ts')).createLeaf(authority, options);

function covers(certificate: X509Certificate, names: readonly string[], ips: readonly string[]): boolean {
  const present = new Set(certificate.subjectAltName?.split(', '));
  return (
    names.every((name) => present.has(`DNS:${name}`)) &&
    ips.every((ip) => certificate.checkIP(ip) !== undefined)
  );
}
