import type { Certificate } from './certificate.ts';
import { allowsNames } from './name-constraints.ts';

/** Leaf first, then each one's issuer up to an authority. */
type Chain = readonly Certificate[];

interface ChainQuestion {
  readonly leaf: Certificate;
  /** The other certificates that came with it, in any order. */
  readonly intermediates: readonly Certificate[];
  readonly authorities: readonly Certificate[];
  readonly nowMs: number;
}

/** The use of the leaf, and its object identifier. */
const USES = { clients: '1.3.6.1.5.5.7.3.2', servers: '1.3.6.1.5.5.7.3.1' } as const;
type Use = keyof typeof USES;
const ANY_USAGE = '2.5.29.37.0';
/** Bound on signature checks, because any client chooses the certificates and each check is a public key operation (Go: the same). */
const MAX_SIGNATURE_CHECKS = 100;
const MAX_LENGTH = 10;

/** MD5 and SHA-1, with RSA, DSA and ECDSA: two certificates with the same such signature can be made. */
const BROKEN_SIGNATURES: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.3.14.3.2.29',
  '1.2.840.10040.4.3',
  '1.2.840.10045.4.1',
]);

/**
 * Finds a chain by which one of the authorities vouches for a client or a server (RFC 5280, section 6.1, as in Go's x509.Verify
 * with ClientAuth or ServerAuth); which names a server has is for others to ask. Every certificate is valid now, has no unknown critical extension, and is signed by the next one. Each issuer is
 * an authority, and its limits on path length, names and use allow the certificates below it.
 * @throws Error about the last chain that was tried
 */
export function findChain(question: ChainQuestion, use: Use): Chain {
  const { leaf, authorities, nowMs } = question;
  const wrong = whyUnusable(leaf, nowMs);
  if (wrong !== undefined) throw new Error(wrong);
  const search = new Search(question, use);
  const chain = authorities.some((authority) => isSame(authority, leaf)) ? [leaf] : search.from([leaf]);
  if (chain !== undefined && isFor(use, chain)) return chain;
  throw new Error(chain === undefined ? search.why : INCOMPATIBLE);
}

const INCOMPATIBLE = 'x509: certificate specifies an incompatible key usage';

class Search {
  why = 'x509: certificate signed by unknown authority';
  readonly #question: ChainQuestion;
  readonly #use: Use;
  #checksLeft = MAX_SIGNATURE_CHECKS;

  constructor(question: ChainQuestion, use: Use) {
    this.#question = question;
    this.#use = use;
  }

  /** Completes a chain; undefined when that is not possible. */
  from(below: Chain): Chain | undefined {
    const { authorities, intermediates } = this.#question;
    for (const issuer of authorities) {
      if (!this.#continues(below, issuer, 'authority')) continue;
      const chain = [...below, issuer];
      if (isFor(this.#use, chain)) return chain;
      this.why = INCOMPATIBLE;
    }
    if (below.length >= MAX_LENGTH) return undefined;
    for (const issuer of intermediates) {
      if (below.some((link) => isSame(link, issuer)) || !this.#continues(below, issuer, 'intermediate'))
        continue;
      const chain = this.from([...below, issuer]);
      if (chain !== undefined) return chain;
    }
    return undefined;
  }

  #continues(below: Chain, issuer: Certificate, role: 'authority' | 'intermediate'): boolean {
    const child = below.at(-1);
    if (child === undefined || !child.issuer.equals(issuer.subject.raw)) return false;
    const wrong = whyUnusable(issuer, this.#question.nowMs) ?? whyNoIssuer(issuer, below, role);
    if (wrong !== undefined) {
      this.why = wrong;
      return false;
    }
    if (this.#checksLeft === 0) {
      this.why = 'x509: signature check attempts limit reached while verifying certificate chain';
      return false;
    }
    this.#checksLeft -= 1;
    return isSignedBy(child, issuer);
  }
}

function whyUnusable(
  { notBeforeMs, notAfterMs, extensions }: Certificate,
  nowMs: number,
): string | undefined {
  const [unknown] = extensions.unknownCritical;
  if (unknown !== undefined) return `x509: unhandled critical extension ${unknown}`;
  if (notBeforeMs <= nowMs && nowMs <= notAfterMs) return undefined;
  return 'x509: certificate has expired or is not yet valid';
}

function whyNoIssuer(
  { version, extensions }: Certificate,
  below: Chain,
  role: 'authority' | 'intermediate',
): string | undefined {
  const { basicConstraints, keyUsage, nameConstraints } = extensions;
  // Certificates of version 1 cannot mark authorities; a configured authority counts as one.
  const isOld = basicConstraints === undefined && version < 3 && role === 'authority';
  if (basicConstraints?.isAuthority !== true && !isOld) {
    return 'x509: certificate is not authorized to sign other certificates';
  }
  if (keyUsage?.signsCertificates === false) return 'x509: issuer has no key usage for signing certificates';
  if (below.length - 1 > (basicConstraints?.maxPathLength ?? Number.POSITIVE_INFINITY)) {
    return 'x509: too many intermediates for path length constraint';
  }
  if (nameConstraints === undefined) return undefined;
  const isAllowed = below.every(
    ({ extensions: { alternatives } }) =>
      alternatives === undefined || allowsNames(nameConstraints, alternatives),
  );
  return isAllowed
    ? undefined
    : 'x509: a root or intermediate certificate is not authorized to sign for this name';
}

const isSignedBy = (child: Certificate, issuer: Certificate): boolean =>
  !BROKEN_SIGNATURES.has(child.signatureAlgorithm) && child.x509.verify(issuer.x509.publicKey);

/** A limit on the use of a certificate holds for all certificates below it. */
const isFor = (use: Use, chain: Chain): boolean =>
  chain.every(({ extensions: { extendedKeyUsage } }) => {
    if (extendedKeyUsage === undefined || extendedKeyUsage.length === 0) return true;
    return extendedKeyUsage.includes(USES[use]) || extendedKeyUsage.includes(ANY_USAGE);
  });

const isSame = (one: Certificate, other: Certificate): boolean => one.x509.raw.equals(other.x509.raw);
