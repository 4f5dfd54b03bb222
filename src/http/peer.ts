import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { PeerCertificate } from '../request/api-request.ts';

/** What is asked of a socket, with or without TLS. */
type PeerSocket = {
  readonly remoteAddress?: string | undefined;
  readonly getPeerCertificate?: TLSSocket['getPeerCertificate'];
  readonly isSessionReused?: TLSSocket['isSessionReused'];
};

/**
 * Who is at the other end of a connection. Read once a connection: asking TLS for the chain costs many times what serving a
 * small object does, and asking an HTTP/2 session for its socket's address a proxy or two each time.
 */
export class Peer {
  readonly address: string;
  readonly #socket: PeerSocket;
  #certificate: { readonly read: PeerCertificate | undefined } | undefined;

  constructor(socket: PeerSocket) {
    this.#socket = socket;
    this.address = socket.remoteAddress ?? '';
  }

  get certificate(): PeerCertificate | undefined {
    this.#certificate ??= { read: readCertificate(this.#socket) };
    return this.#certificate.read;
  }
}

/** By socket, or by HTTP/2 session: a session hands out its socket behind a new proxy each time. */
const peers = new WeakMap<object, Peer>();

export function peerOf(connection: object, socket: () => PeerSocket | undefined): Peer {
  let peer = peers.get(connection);
  if (peer === undefined) {
    peer = new Peer(socket() ?? {});
    peers.set(connection, peer);
  }
  return peer;
}

/**
 * Chains by their leaf. A session that is resumed knows the leaf of the chain that it began with, and nothing of what came with
 * it (OpenSSL keeps no more in a ticket); without that, the client would be let in once and refused after.
 */
const chains = new LRUCache<string, PeerCertificate>({ max: 1000 });

function readCertificate(socket: PeerSocket): PeerCertificate | undefined {
  if (socket.getPeerCertificate === undefined) return undefined;
  const chain: Buffer[] = [];
  let certificate = socket.getPeerCertificate(true);
  while (certificate?.raw !== undefined && !chain.some((der) => der.equals(certificate.raw))) {
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  const [leaf] = chain;
  return leaf === undefined ? undefined : recall(leaf, { chain }, socket.isSessionReused?.() === true);
}

/** A chain that is remembered is judged like any other: who recalls it has shown the leaf's key. */
function recall(leaf: Buffer, read: PeerCertificate, isResumed: boolean): PeerCertificate {
  const key = createHash('sha256').update(leaf).digest('base64');
  if (isResumed) return { chain: chains.get(key)?.chain ?? read.chain };
  if (read.chain.length > 1) chains.set(key, read);
  return read;
}
