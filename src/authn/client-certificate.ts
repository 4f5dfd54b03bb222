import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { unauthorized } from '../api/status.ts';
import type { PeerCertificate, UserInfo } from '../request/api-request.ts';
import type { Authenticator } from './authenticator.ts';

/**
 * --client-ca-file: a certificate signed by one of these authorities, directly or through intermediates that the client
 * sends, names its user (CN) and groups (O). A chain is verified once a connection.
 */
export function createCertificateAuthenticator(caFiles: readonly string[]): Authenticator {
  const authorities = caFiles.flatMap(readCertificates);
  const verified = new WeakMap<PeerCertificate, Verified>();
  return {
    authenticate: ({ peerCertificate }) => {
      if (peerCertificate === undefined) return undefined;
      const known = verified.get(peerCertificate);
      if (known !== undefined && known.validToMs > Date.now()) return known.user;
      const fresh = verify(peerCertificate, authorities);
      verified.set(peerCertificate, fresh);
      return fresh.user;
    },
  };
}

interface Verified {
  readonly user: UserInfo;
  readonly validToMs: number;
}

/** @throws StatusError 401 */
function verify(peer: PeerCertificate, authorities: readonly X509Certificate[]): Verified {
  const chain = peer.chain.map((der) => new X509Certificate(der));
  const [leaf] = chain;
  if (leaf === undefined || !isTrusted(chain, authorities) || !isForClients(leaf)) throw unauthorized();
  return { user: toUser(leaf), validToMs: Date.parse(leaf.validTo) };
}

const MAX_CHAIN = 8;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

function readCertificates(path: string): X509Certificate[] {
  const blocks =
    readFileSync(path, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error(`--client-ca-file: ${path} holds no certificate in PEM form`);
  return blocks.map((block) => new X509Certificate(block));
}

function isTrusted(chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  let [current] = chain;
  for (let depth = 0; current !== undefined && depth < MAX_CHAIN; depth += 1) {
    const subject = current;
    if (!isValidNow(subject)) return false;
    if (authorities.some((ca) => isValidNow(ca) && isIssuedBy(subject, ca))) return true;
    current = chain.find((other) => other !== subject && other.ca && isIssuedBy(subject, other));
  }
  return false;
}

function isValidNow({ validFrom, validTo }: X509Certificate): boolean {
  const now = Date.now();
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo);
}

const isIssuedBy = (subject: X509Certificate, issuer: X509Certificate): boolean =>
  subject.checkIssued(issuer) && subject.verify(issuer.publicKey);

/** A certificate that says what it is for must be for clients. */
function isForClients(leaf: X509Certificate): boolean {
  const usages: readonly string[] | undefined = leaf.keyUsage;
  return usages === undefined || usages.includes(CLIENT_AUTH);
}

function toUser({ subject, fingerprint256 }: X509Certificate): UserInfo {
  const fields = subject.split('\n').map((line) => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
  const username = fields.find(([name]) => name === 'CN')?.[1] ?? '';
  if (username === '') throw unauthorized();
  return {
    username,
    uid: '',
    groups: fields.filter(([name]) => name === 'O').map(([, value]) => value),
    extra: {
      'authentication.kubernetes.io/credential-id': [
        `X509SHA256=${fingerprint256.replaceAll(':', '').toLowerCase()}`,
      ],
    },
  };
}
