import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { PairFiles } from '../http/serving-tls.ts';
import { makeFolder } from '../util/make-folder.ts';
import type { LeafOptions } from './certificate-authority.ts';
import { type KeepKey, type KeyPair, keepHere, readPair, writePair } from './kept-keys.ts';

/** The certificates of a new cluster: an authority, one for serving, one for its administrator. */
export interface ClusterCertificates {
  readonly caFile: string;
  readonly caKeyFile: string;
  readonly ca: string;
  readonly serving: KeyPair & PairFiles;
  readonly admin: KeyPair;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Certificates with fewer days left are replaced at the next start. */
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
  /** Further names of the server. */
  readonly names?: readonly string[];
  /** Contains the serving pair; absent: the folder of the others. */
  readonly folder?: string;
  /** A pair that is there already: none is made. */
  readonly brought?: PairFiles;
}

/**
 * Reads certificates from `folder`, making those that are missing, expiring, or lack an address. The authority is the
 * cluster's: `keep` returns it; the first server contributes the one of its folder. Only the owner can read the keys.
 */
export async function ensureCertificates(
  folder: string,
  addresses: readonly string[],
  wishes: ServingWishes = {},
  keep: KeepKey = keepHere,
): Promise<ClusterCertificates> {
  makeFolder(folder, { mode: 0o700 });
  const ca = await ensureAuthority(folder, keep);
  const { publicKey } = new X509Certificate(ca.certificate);
  const signed = (certificate: X509Certificate): boolean => certificate.verify(publicKey);
  const { brought } = wishes;
  const serving =
    brought === undefined
      ? await ensureServing(ca, { folder, addresses, wishes, signed })
      : readBrought(brought);
  const admin = await ensure(folder, 'admin', signed, () =>
    sign(ca, { subject: 'CN=kubernetes-admin, O=system:masters', names: [], ips: [] }),
  );
  const files = { caFile: join(folder, 'ca.crt'), caKeyFile: join(folder, 'ca.key') };
  return { ...files, ca: ca.certificate, serving, admin };
}

async function ensureAuthority(folder: string, keep: KeepKey): Promise<KeyPair> {
  const own = readPair(folder, 'ca');
  const authority = await keep('authority', {
    fits: isFresh,
    make: async () => {
      if (own !== undefined && isFresh(own)) return own;
      return (await import('./certificate-authority.ts')).createAuthority();
    },
  });
  if (own?.certificate !== authority.certificate || own.key !== authority.key) {
    writePair(folder, 'ca', authority);
  }
  return authority;
}

interface Serving {
  readonly folder: string;
  readonly addresses: readonly string[];
  readonly wishes: ServingWishes;
  readonly signed: (certificate: X509Certificate) => boolean;
}

async function ensureServing(
  ca: KeyPair,
  { folder, addresses, wishes, signed }: Serving,
): Promise<ClusterCertificates['serving']> {
  const names = [...new Set([...SERVING_NAMES, hostname(), ...(wishes.names ?? [])])];
  const ips = [...new Set([...SERVING_ADDRESSES, ...addresses])];
  const servingFolder = wishes.folder ?? folder;
  const name = wishes.folder === undefined ? 'serving' : 'apiserver';
  makeFolder(servingFolder, { mode: 0o700 });
  const pair = await ensure(
    servingFolder,
    name,
    (certificate) => signed(certificate) && covers(certificate, names, ips),
    () => sign(ca, { subject: 'CN=pg-apiserver', names, ips }),
  );
  const [certFile, keyFile] = [join(servingFolder, `${name}.crt`), join(servingFolder, `${name}.key`)];
  return { ...pair, certFile, keyFile };
}

const readBrought = (files: PairFiles): ClusterCertificates['serving'] => ({
  ...files,
  certificate: readFileSync(files.certFile, 'utf8'),
  key: readFileSync(files.keyFile, 'utf8'),
});

/** Ensures a certificate of this server alone. */
async function ensure(
  folder: string,
  name: string,
  fits: (certificate: X509Certificate) => boolean,
  create: () => Promise<KeyPair>,
): Promise<KeyPair> {
  const kept = readPair(folder, name);
  if (kept !== undefined && isFresh(kept) && fits(new X509Certificate(kept.certificate))) return kept;
  const pair = await create();
  writePair(folder, name, pair);
  return pair;
}

const isFresh = ({ certificate }: KeyPair): boolean =>
  new X509Certificate(certificate).validToDate.getTime() > Date.now() + RENEW_DAYS * DAY_MS;

const sign = async (authority: KeyPair, options: LeafOptions): Promise<KeyPair> =>
  (await import('./certificate-authority.ts')).createLeaf(authority, options);

function covers(certificate: X509Certificate, names: readonly string[], ips: readonly string[]): boolean {
  const present = new Set(certificate.subjectAltName?.split(', '));
  return (
    names.every((name) => present.has(`DNS:${name}`)) &&
    ips.every((ip) => certificate.checkIP(ip) !== undefined)
  );
}

/** Where a server is, and how clients verify it. */
export interface ServedAt {
  readonly url: string;
  /** The authorities of its certificate, in PEM form. */
  readonly ca: string;
  /** A name that the certificate has, where it lacks that of the URL. */
  readonly name?: string;
}

/** Writes the administrator's kubeconfig, everything embedded, readable by its owner alone. */
export function writeKubeconfig(
  path: string,
  { url, ca, name: serverName }: ServedAt,
  { admin }: ClusterCertificates,
): void {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const name = 'pg-apiserver';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          ...{ server: url, 'certificate-authority-data': base64(ca) },
          ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
        },
      },
    ],
    users: [
      {
        name: 'kubernetes-admin',
        user: { 'client-certificate-data': base64(admin.certificate), 'client-key-data': base64(admin.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: 'kubernetes-admin' } }],
    'current-context': name,
  };
  writeFileSync(path, stringify(config), { mode: 0o600 });
}
