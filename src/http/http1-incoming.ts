import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { type Incoming, type Peer, peerOf, type Receiver } from './exchange.ts';

/** A request of HTTP/1.1. */
export class Http1Incoming implements Incoming {
  readonly session = undefined;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse | undefined;

  /** Without a response the connection changes protocols; it ends with the exchange. */
  constructor(message: IncomingMessage, response?: ServerResponse) {
    this.#message = message;
    this.#response = response;
  }

  get method(): string {
    return this.#message.method ?? 'GET';
  }

  get url(): string {
    return this.#message.url ?? '/';
  }

  get headers(): IncomingHttpHeaders {
    return this.#message.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.#message.rawHeaders;
  }

  get connection(): object {
    return this.#message.socket;
  }

  get peer(): Peer {
    const { socket } = this.#message;
    return peerOf(socket, () => socket);
  }

  get isComplete(): boolean {
    return this.#message.complete;
  }

  /** RFC 9112, section 6.3: without either header there is no body. */
  get body(): Readable | undefined {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = this.#message.headers;
    return coding === undefined && Number(length) === 0 ? undefined : this.#message;
  }

  receive(receiver: Receiver): void {
    this.#message.on('data', (chunk: Buffer) => receiver.data(chunk));
    this.#message.once('end', () => receiver.end());
    this.#message.once('error', (error) => receiver.broken(error));
    this.#message.once('aborted', () => receiver.broken());
  }

  endInput(): void {}

  hangUp(): void {
    this.#response?.setHeader('connection', 'close');
  }

  /** Clients send the next request of a connection after the answer. */
  sendElsewhere(): void {
    this.hangUp();
  }
}
