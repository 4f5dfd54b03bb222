import type { IncomingHttpHeaders } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Readable } from 'node:stream';
import type { Peer } from './peer.ts';

/** What the http layer takes of a request and its answer, whichever version of HTTP they come in. */

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
  /** What all requests on one connection have in common. */
  readonly connection: object;
  readonly peer: Peer;
  /** Whether the body has been received to its end. On HTTP/2 nobody need know: one stream does not block another. */
  readonly isComplete: boolean;
  /** Receives the body, from now on and once. */
  receive(receiver: Receiver): void;
  /** The body for somebody who hands it on. Not to be used beside {@link Incoming.receive}. */
  readonly body: Readable;
  /** After the answer: what is still to come of the body is not waited for. */
  endInput(): void;
  /** The connection ends when what is under way on it has been answered: RFC 9112, section 9.6; RFC 9113, section 6.8. */
  hangUp(): void;
}

export interface Receiver {
  data(chunk: Buffer): void;
  end(): void;
  /** The client went away, or what it sent was no HTTP. */
  broken(error?: unknown): void;
}

export type AnswerHeaders = Record<string, string | string[]>;

/** Where an answer goes: what is used here of Node's response of HTTP/1.1, and the same for HTTP/2. */
export interface Answer {
  writeHead(code: number, headers: AnswerHeaders): unknown;
  /** Sends the head without waiting for the first bytes. */
  flushHeaders(): void;
  /** False when the buffer of the connection is full. */
  write(piece: Buffer, done?: () => void): boolean;
  end(piece?: Buffer): unknown;
  destroy(): unknown;
  /** Whether the whole answer was handed over; what becomes of it then nobody asks. */
  readonly writableEnded: boolean;
  readonly writableNeedDrain: boolean;
  /** Bytes that wait for the client. */
  readonly writableLength: number;
  /** Whether Node puts a size around each piece that is written, as HTTP/1.1 needs it. */
  chunkedEncoding?: boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  removeListener(event: 'drain', listener: () => void): unknown;
}
