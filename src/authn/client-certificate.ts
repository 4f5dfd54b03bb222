import type { X509Certificate } from 'node:crypto';
import type { PeerCertificate, UserInfo } from '../request/api-request.ts';
import { errorText } from '../util/error-text.ts';
import { FollowedFiles } from '../util/followed-files.ts';
import { type Certificate, readCertificate } from '../x509/certificate.ts';
import { findChain } from '../x509/chain.ts';
import { certificatesIn } from '../x509/pem.ts';
import type { Authentication, Authenticator } from './authenticator.ts';

/** A chain that one of the authorities vouches for. */
interface TrustedPeer {
  readonly leaf: X509Certificate;
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly uids: readonly string[];
}

type Authorities = readonly Certificate[];

interface Remembered {
  readonly authorities: Authorities;
  readonly untilMs: number;
  readonly found: TrustedPeer | Error;
}

/**
 * Authorities in files, reloaded when they change. A chain is verified once for each connection, and again when the authorities
 * changed or the certificate expired. Refused chains are remembered, too: with a front proxy, the certificates of all other
 * clients are not signed by its authority (80 µs for each request → 3).
 */
export class CertificateAuthorities {
  readonly #remembered = new WeakMap<PeerCertificate, Remembered>();
  readonly #files: FollowedFiles<Authorities>;

  /** @throws Error that names the file */
  constructor(flag: string, paths: readonly string[], onError: (error: unknown) => void) {
    const make = (texts: readonly string[]): Authorities =>
      texts.flatMap((text, at) => parse(text, `--${flag}: ${paths[at]}`));
    this.#files = new FollowedFiles({ paths, make, onError });
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#files.run(signal);
  }

  /** @throws Error when no authority vouches for the chain, now and for a client */
  verify(peer: PeerCertificate): TrustedPeer {
    const authorities = this.#files.current;
    let known = this.#remembered.get(peer);
    if (known?.authorities !== authorities || known.untilMs <= Date.now()) {
      known = judge(peer, authorities);
      this.#remembered.set(peer, known);
    }
    if (known.found instanceof Error) throw known.found;
    return known.found;
  }
}

function judge(peer: PeerCertificate, authorities: Authorities): Remembered {
  const nowMs = Date.now();
  let links: readonly Certificate[] = [];
  try {
    links = peer.chain.map(readCertificate);
    const [leaf, ...intermediates] = links;
    if (leaf === undefined) throw new Error('x509: no certificate');
    const chain = findChain({ leaf, intermediates, authorities, nowMs }, 'clients');
    const { commonName, organizations, uids } = leaf.subject;
    const found = { leaf: leaf.x509, commonName, organizations, uids };
    return { authorities, untilMs: Math.min(...chain.map(({ notAfterMs }) => notAfterMs)), found };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // A refusal is final unless a certificate is not valid yet, which time may change.
    const isFinal = [...links, ...authorities].every(({ notBeforeMs }) => notBeforeMs <= nowMs);
    return { authorities, untilMs: isFinal ? Number.POSITIVE_INFINITY : 0, found: error };
  }
}

/** @throws Error that names the file */
function parse(text: string, place: string): Certificate[] {
  const certificates = certificatesIn(text);
  if (certificates.length === 0) throw new Error(`${place} holds no certificate in PEM form`);
  try {
    return certificates.map(readCertificate);
  } catch (error) {
    throw new Error(`${place}: ${errorText(error)}`, { cause: error });
  }
}

/**
 * --client-ca-file: a certificate signed by one of the authorities, directly or through intermediates that the client sends,
 * names its user (CN) and groups (O), and where `readsUids` (the feature AllowParsingUserUIDFromCertAuth) the user's uid.
 * `expiry` observes how long each certificate lasts, trusted or not.
 */
export function createCertificateAuthenticator(
  authorities: CertificateAuthorities,
  readsUids = false,
  expiry?: { observe(seconds: number): void },
): Authenticator {
  const users = new WeakMap<TrustedPeer, Authentication>();
  const ends = new WeakMap<PeerCertificate, number>();
  return {
    authenticate: ({ peerCertificate }) => {
      if (peerCertificate === undefined) return undefined;
      if (expiry !== undefined) {
        let endMs = ends.get(peerCertificate);
        if (endMs === undefined) {
          endMs = endOf(peerCertificate);
          ends.set(peerCertificate, endMs);
        }
        if (!Number.isNaN(endMs)) expiry.observe((endMs - Date.now()) / 1000);
      }
      const peer = authorities.verify(peerCertificate);
      let found = users.get(peer);
      if (found === undefined) {
        found = { user: toUser(peer, readsUids ? uidOf(peer) : '') };
        users.set(peer, found);
      }
      return found;
    },
  };
}

/** NaN: unreadable. */
function endOf({ chain: [leaf] }: PeerCertificate): number {
  try {
    return leaf === undefined ? Number.NaN : readCertificate(leaf).notAfterMs;
  } catch {
    return Number.NaN;
  }
}

function uidOf({ uids }: TrustedPeer): string {
  const [uid, ...others] = uids;
  if (others.length > 0) throw new Error(`x509: expected 1 UID, but found multiple: ${uids.join(', ')}`);
  if (uid === '') throw new Error('x509: the UID of a user cannot be empty');
  return uid ?? '';
}

function toUser({ leaf, commonName, organizations }: TrustedPeer, uid: string): UserInfo {
  if (commonName === '') throw new Error('x509: the certificate names no user');
  const fingerprint = leaf.fingerprint256.replaceAll(':', '').toLowerCase();
  return {
    username: commonName,
    uid,
    groups: organizations,
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  };
}
