import type { TLSSocket } from 'node:tls';
import type { PeerCertificate } from '../request/api-request.ts';

/** What is asked of a socket, with or without TLS. */
type PeerSocket = {
  readonly remoteAddress?: string | undefined;
  readonly getPeerCertificate?: TLSSocket['getPeerCertificate'];
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

function readCertificate(socket: PeerSocket): PeerCertificate | undefined {
  if (socket.getPeerCertificate === undefined) return undefined;
  const chain: Buffer[] = [];
  let certificate = socket.getPeerCertificate(true);
  while (certificate?.raw !== undefined && !chain.some((der) => der.equals(certificate.raw))) {
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return chain.length === 0 ? undefined : { chain };
}
