import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { PeerCertificate } from '../request/api-request.ts';

/** A request and its answer as the http layer sees them, in either version of HTTP. */

export interface Incoming {
  readonly method: string;
  /** Path and query, still escaped. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  /** Undefined on HTTP/1.1. */
  readonly session: Http2Session | undefined;
  /** The same object for all requests on one connection. */
  readonly connection: object;
  readonly peer: Peer;
  /** Whether the body has been received to its end. Always true on HTTP/2, where one stream does not block another. */
  readonly isComplete: boolean;
  /** Starts receiving the body. To be called once. */
  receive(receiver: Receiver): void;
  /** The body for proxies; undefined: there is none. Not to be used beside {@link Incoming.receive}. */
  readonly body: Readable | undefined;
  /** Call it after the answer: the rest of the body is not awaited. */
  endInput(): void;
  /** Ends the connection after the requests under way on it are answered: RFC 9112, section 9.6; RFC 9113, section 6.8. */
  hangUp(): void;
  /** Has the client open another connection for its next requests. Serves those that are on their way on this one. */
  sendElsewhere(): void;
}

export interface Receiver {
  data(chunk: Buffer): void;
  end(): void;
  /** The client disconnected, or sent invalid HTTP. */
  broken(error?: unknown): void;
}

export type AnswerHeaders = Record<string, string | string[]>;

/** The part of Node's HTTP/1.1 response that is used here, and the same for HTTP/2. */
export interface Answer {
  writeHead(code: number, headers: AnswerHeaders): unknown;
  /** Sends the head without waiting for the first bytes. */
  flushHeaders(): void;
  /** False when the buffer of the connection is full. */
  write(piece: Buffer, done?: () => void): boolean;
  /** Holds back what is written until {@link Answer.uncork}, to send it together. */
  cork(): void;
  uncork(): void;
  end(piece?: Buffer): unknown;
  destroy(): unknown;
  /** Whether the whole answer was handed over, sent or not. */
  readonly writableEnded: boolean;
  readonly writableNeedDrain: boolean;
  /** Bytes that wait for the client. */
  readonly writableLength: number;
  /** Whether Node puts a size around each piece that is written, as HTTP/1.1 needs it. */
  chunkedEncoding?: boolean;
  /** The connection, on HTTP/1.1 alone: null while an earlier answer is sent on it. */
  readonly socket?: Socket | null;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  removeListener(event: 'drain', listener: () => void): unknown;
}

/** The part of a socket that is used here, with or without TLS. */
type PeerSocket = {
  readonly remoteAddress?: string | undefined;
  readonly getPeerCertificate?: TLSSocket['getPeerCertificate'];
  readonly isSessionReused?: TLSSocket['isSessionReused'];
};

/**
 * The other end of a connection. Read once for each connection: asking TLS for the chain costs many times as much as serving a
 * small object, and asking an HTTP/2 session for its socket makes a proxy each time.
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

/** By socket, or by HTTP/2 session, because a session hands out its socket behind a new proxy each time. */
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
 * Certificate chains by their leaf. A resumed TLS session knows only the leaf (OpenSSL keeps no more in a ticket); without the
 * rest of its chain a client would be let in once and refused afterwards. A listener knows the tickets of its own thread alone.
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

/** A remembered chain is verified like any other; the client of a resumed session has proved that it has the leaf's key. */
function recall(leaf: Buffer, read: PeerCertificate, isResumed: boolean): PeerCertificate {
  const key = createHash('sha256').update(leaf).digest('base64');
  if (isResumed) return { chain: chains.get(key)?.chain ?? read.chain };
  if (read.chain.length > 1) chains.set(key, read);
  return read;
}
