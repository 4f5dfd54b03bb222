import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from '../request/api-request.ts';
import { FollowedFiles } from '../util/followed-files.ts';

/** A chain that one of the authorities vouches for. */
export interface TrustedPeer {
  readonly leaf: X509Certificate;
  readonly commonName: string;
  readonly organizations: readonly string[];
}

type Authorities = readonly X509Certificate[];

interface Remembered {
  readonly authorities: Authorities;
  readonly untilMs: number;
  readonly found: TrustedPeer | Error;
}

const MAX_CHAIN = 8;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const ANY_USAGE = '2.5.29.37.0';

/**
 * Authorities in files, read again when they change. A chain is verified once a connection, and again when the authorities
 * changed or the certificate has run out. A chain that is refused is remembered, too: where a front proxy is configured,
 * everybody else's certificate is one that its authority did not sign (80 µs a request → 3).
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

  /** @throws Error when nobody here vouches for the chain, now and for a client */
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
  const chain = peer.chain.map((der) => new X509Certificate(der));
  try {
    const found = verifyChain(chain, authorities);
    return { authorities, untilMs: Date.parse(found.leaf.validTo), found };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Time only ends what has begun; whatever has not may make a refused chain a good one.
    const isFinal = [...chain, ...authorities].every(({ validFrom }) => Date.parse(validFrom) <= Date.now());
    return { authorities, untilMs: isFinal ? Number.POSITIVE_INFINITY : 0, found: error };
  }
}

function parse(text: string, place: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error(`${place} holds no certificate in PEM form`);
  return blocks.map((block) => new X509Certificate(block));
}

function verifyChain(chain: readonly X509Certificate[], authorities: Authorities): TrustedPeer {
  const [leaf] = chain;
  if (leaf === undefined) throw new Error('x509: no certificate');
  if (!isValidNow(leaf)) throw new Error('x509: certificate has expired or is not yet valid');
  if (!isTrusted(chain, authorities)) throw new Error('x509: certificate signed by unknown authority');
  if (!isForClients(leaf)) throw new Error('x509: certificate specifies an incompatible key usage');
  const fields = subjectOf(leaf);
  return {
    leaf,
    commonName: fields.find(([name]) => name === 'CN')?.[1] ?? '',
    organizations: fields.filter(([name]) => name === 'O').map(([, value]) => value),
  };
}

function isTrusted(chain: readonly X509Certificate[], authorities: Authorities): boolean {
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
  return usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE);
}

function subjectOf({ subject }: X509Certificate): (readonly [string, string])[] {
  return subject.split('\n').map((line) => {
    const at = line.indexOf('=');
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
}
