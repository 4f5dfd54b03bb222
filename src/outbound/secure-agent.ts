import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { checkServerIdentity, type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { type Certificate, readCertificate } from '../x509/certificate.ts';
import { findChain } from '../x509/chain.ts';
import { certificatesIn } from '../x509/pem.ts';
import type { Dial } from './egress/dial.ts';
import { reach } from './egress/reach.ts';

interface SecureAgentOptions extends AgentOptions {
  /** PEM; undefined: the authorities that the host trusts. */
  readonly ca?: string;
}

type Connect = NonNullable<Agent['createConnection']>;

/**
 * HTTPS with the caller's choice of authorities. OpenSSL refuses two kinds of servers that Go trusts:
 * - The certificate and its issuer have one name: OpenSSL takes the certificate for self-signed, and ignores the issuer. Many
 *   operators give their authority and its certificates one name (knative.dev/pkg, webhook/certificates).
 * - An authority is not self-signed: OpenSSL looks for its issuer. The caBundle of controller-runtime's envtest is the
 *   certificate of the webhook server itself; others give an intermediate authority.
 *
 * Certificates that OpenSSL refuses for these reasons are verified as in Go.
 */
export class SecureAgent extends Agent {
  /** Undefined: OpenSSL judges alone. */
  readonly #authorities: Authorities | undefined;
  readonly #dial: Dial | undefined;

  /** `dial` opens the connections; undefined: the system does. */
  constructor(options: SecureAgentOptions, dial?: Dial) {
    const given = new Authorities(options.rejectUnauthorized === false ? '' : (options.ca ?? ''));
    const authorities = given.isEmpty() ? undefined : given;
    // A session that is resumed shows no certificate.
    super(authorities === undefined ? options : { ...options, maxCachedSessions: 0 });
    this.#authorities = authorities;
    this.#dial = dial;
  }

  override createConnection(...[options, callback]: Parameters<Connect>): ReturnType<Connect> {
    const dial = this.#dial;
    if (dial === undefined) return this.#secure(options, callback);
    const join = (socket: Duplex): Duplex => this.#secure({ ...options, socket }) ?? socket;
    return reach(options, dial, { join, connected: callback });
  }

  #secure(
    options: Parameters<Connect>[0] & { readonly socket?: Duplex },
    callback?: Parameters<Connect>[1],
  ): ReturnType<Connect> {
    if (this.#authorities === undefined) return super.createConnection(options, callback);
    const socket = super.createConnection({ ...options, rejectUnauthorized: false }, callback);
    const host = options.servername || options.host || 'localhost';
    // Nothing is sent before this event has been handled.
    if (socket instanceof TLSSocket)
      socket.prependOnceListener('secureConnect', () => this.#judge(socket, host));
    return socket;
  }

  #judge(socket: TLSSocket, host: string): void {
    if (socket.authorized) return;
    const code = String(socket.authorizationError);
    const peer = socket.getPeerCertificate(true);
    const isTrusted = code === MISMATCH || (REFUSED_BY_OPENSSL.has(code) && this.#isVouchedFor(peer));
    const error = isTrusted
      ? checkServerIdentity(host, peer)
      : Object.assign(new Error(`the certificate of ${host} cannot be verified: ${code}`), { code });
    if (error !== undefined) socket.destroy(error);
  }

  #isVouchedFor(peer: DetailedPeerCertificate): boolean {
    try {
      const [leaf, ...intermediates] = [...chainOf(peer)].map(({ raw }) => readCertificate(raw));
      if (leaf === undefined) return false;
      const question = {
        leaf,
        intermediates,
        authorities: this.#authorities?.all() ?? [],
        nowMs: Date.now(),
      };
      return findChain(question, 'servers').length > 0;
    } catch {
      return false;
    }
  }
}

const MISMATCH = 'ERR_TLS_CERT_ALTNAME_INVALID';
/** What OpenSSL says of the certificates that Go may trust. */
const REFUSED_BY_OPENSSL: ReadonlySet<string> = new Set([
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
]);

/** The certificates that the server sent. The last is linked to itself. */
function* chainOf(peer: DetailedPeerCertificate): Generator<DetailedPeerCertificate> {
  const seen = new Set<DetailedPeerCertificate>();
  for (let one = peer; one?.raw !== undefined && !seen.has(one); one = one.issuerCertificate) {
    seen.add(one);
    yield one;
  }
}

/**
 * Skips unreadable certificates, as Go does. A bundle may have thousands: all of them are parsed for the first server that
 * needs them, and OpenSSL verifies most servers itself.
 */
class Authorities {
  readonly #pem: string;
  #all: readonly Certificate[] | undefined;

  constructor(pem: string) {
    this.#pem = pem;
  }

  isEmpty(): boolean {
    return !certificatesIn(this.#pem).some((der) => read(der).length > 0);
  }

  all(): readonly Certificate[] {
    this.#all ??= certificatesIn(this.#pem).flatMap(read);
    return this.#all;
  }
}

function read(der: Buffer): Certificate[] {
  try {
    return [readCertificate(der)];
  } catch {
    return [];
  }
}
