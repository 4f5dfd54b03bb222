import 'reflect-metadata';
import { webcrypto, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import type { PairFiles } from '../http/tls/serving-tls.ts';
import { parseIp } from '../object/ip.ts';
import { type KeepKey, type KeyPair, keepHere, readPair, writePair } from './kept-keys.ts';

/** The certificates of a cluster that has none yet: an authority, one for serving, one for its administrator. */
export interface ClusterCertificates {
  readonly caFile: string;
  readonly ca: string;
  readonly serving: KeyPair & PairFiles;
  readonly admin: KeyPair;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const CA_DAYS = 3650;
const LEAF_DAYS = 365;
/** A certificate this close to its end is made anew at the next start. */
const RENEW_DAYS = 30;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

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

/**
 * Reads them from `folder`, making what is missing, about to expire, or not for the addresses. The authority is the cluster's:
 * `keep` says which, and who comes first brings the one of his folder. Keys are for their owner alone.
 */
export async function ensureCertificates(
  folder: string,
  addresses: readonly string[],
  wishes: ServingWishes = {},
  keep: KeepKey = keepHere,
): Promise<ClusterCertificates> {
  x509.cryptoProvider.set(webcrypto as unknown as Parameters<typeof x509.cryptoProvider.set>[0]);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ca = await ensureAuthority(folder, keep);
  const names = [...new Set([...SERVING_NAMES, hostname(), ...(wishes.names ?? [])])];
  const ips = [...new Set([...SERVING_ADDRESSES, ...addresses])];
  const issuer = await readIssuer(ca);
  const { publicKey } = new X509Certificate(ca.certificate);
  const signed = (certificate: x509.X509Certificate): boolean =>
    new X509Certificate(certificate.toString('pem')).verify(publicKey);
  const servingFolder = wishes.folder ?? folder;
  const servingName = wishes.folder === undefined ? 'serving' : 'apiserver';
  mkdirSync(servingFolder, { recursive: true, mode: 0o700 });
  const pair = await ensure(
    servingFolder,
    servingName,
    (certificate) => signed(certificate) && covers(certificate, names, ips),
    () => createLeaf(issuer, { subject: 'CN=pg-apiserver', names, ips }),
  );
  const admin = await ensure(folder, 'admin', signed, () =>
    createLeaf(issuer, { subject: 'CN=kubernetes-admin, O=system:masters', names: [], ips: [] }),
  );
  const serving = {
    ...pair,
    certFile: join(servingFolder, `${servingName}.crt`),
    keyFile: join(servingFolder, `${servingName}.key`),
  };
  return { caFile: join(folder, 'ca.crt'), ca: ca.certificate, serving, admin };
}

async function ensureAuthority(folder: string, keep: KeepKey): Promise<KeyPair> {
  const own = readPair(folder, 'ca');
  const authority = await keep('authority', {
    fits: isFresh,
    make: async () => (own !== undefined && isFresh(own) ? own : createAuthority()),
  });
  if (own?.certificate !== authority.certificate || own.key !== authority.key) {
    writePair(folder, 'ca', authority);
  }
  return authority;
}

/** One of this server alone. */
async function ensure(
  folder: string,
  name: string,
  fits: (certificate: x509.X509Certificate) => boolean,
  create: () => Promise<KeyPair>,
): Promise<KeyPair> {
  const kept = readPair(folder, name);
  if (kept !== undefined && isFresh(kept) && fits(new x509.X509Certificate(kept.certificate))) return kept;
  const pair = await create();
  writePair(folder, name, pair);
  return pair;
}

const isFresh = ({ certificate }: KeyPair): boolean =>
  new x509.X509Certificate(certificate).notAfter.getTime() > Date.now() + RENEW_DAYS * DAY_MS;

interface Issuer {
  readonly certificate: x509.X509Certificate;
  readonly key: webcrypto.CryptoKey;
}

async function readIssuer({ certificate, key }: KeyPair): Promise<Issuer> {
  const der = x509.PemConverter.decodeFirst(key);
  return {
    certificate: new x509.X509Certificate(certificate),
    key: await webcrypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']),
  };
}

async function createAuthority(): Promise<KeyPair> {
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

interface LeafOptions {
  readonly subject: string;
  readonly names: readonly string[];
  readonly ips: readonly string[];
}

/** With names it is a server's certificate, without a client's. */
async function createLeaf(issuer: Issuer, { subject, names, ips }: LeafOptions): Promise<KeyPair> {
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

/** Begins a minute ago: clocks of clients differ. */
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

function covers(
  certificate: x509.X509Certificate,
  names: readonly string[],
  ips: readonly string[],
): boolean {
  const present = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON() ?? [];
  const values = new Set(present.map(({ value }) => value));
  return [...names, ...ips].every((value) => values.has(value) || values.has(expandIp(value)));
}

/** Addresses come back from a certificate in their long form: `::1` as `0:0:0:0:0:0:0:1`. */
function expandIp(value: string): string {
  const ip = parseIp(value);
  if (ip === undefined || ip.family === 4) return value;
  const groups = Array.from(
    { length: 8 },
    (_, at) => ((ip.bytes[at * 2] ?? 0) << 8) | (ip.bytes[at * 2 + 1] ?? 0),
  );
  return groups.map((group) => group.toString(16)).join(':');
}
