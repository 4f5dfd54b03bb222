import {
  constants,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { PassThrough, type Readable } from 'node:stream';
import type { Answer, AnswerHeaders, Incoming, Receiver } from './exchange.ts';
import { type Peer, peerOf } from './peer.ts';
import { Uploads, type WaitingUpload } from './uploads.ts';

/**
 * Calls `serve` for every stream, instead of Node's layer that makes them look like HTTP/1.1: that one costs a quarter of what
 * a bare server spends on a small answer (62 µs → 48 µs of CPU), most of it for trailers, which end each answer with a frame
 * of its own in another round of the event loop.
 */
export function acceptStreams(server: Http2SecureServer, serve: (exchange: Http2Exchange) => void): void {
  // Who listens for requests, as one must for those of HTTP/1.1, gets that layer: it listens for streams.
  server.removeAllListeners('stream');
  const uploads = new Uploads();
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
      // What breaks a stream closes it, too.
      stream.on('error', () => {});
      if (!expects(stream, headers)) return;
      const upload = stream.endAfterHeaders ? NO_UPLOAD : beginUpload(uploads, stream, headers);
      // Nothing was done for it yet, so that clients may send it again (RFC 9113, section 8.7).
      if (upload === undefined) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else serve(new Http2Exchange(stream, headers, raw, upload));
    },
  );
}

const NO_UPLOAD: WaitingUpload = { end: () => {} };

function beginUpload(
  uploads: Uploads,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): WaitingUpload | undefined {
  const upload = uploads.begin(stream.session ?? stream, headers['content-length']);
  if (upload !== undefined) stream.once('close', () => upload.end());
  return upload;
}

/** RFC 9110, section 10.1.1: a client that asks is told to send the body; other expectations cannot be met. */
function expects(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
  const { expect, ':method': method } = headers;
  if (method === 'CONNECT') return refuse(stream, constants.HTTP_STATUS_METHOD_NOT_ALLOWED);
  if (expect === undefined) return true;
  if (expect !== '100-continue') return refuse(stream, constants.HTTP_STATUS_EXPECTATION_FAILED);
  if (!stream.destroyed && !stream.closed) stream.additionalHeaders({ ':status': 100 });
  return true;
}

function refuse(stream: ServerHttp2Stream, code: number): false {
  if (!stream.destroyed && !stream.closed) stream.respond({ ':status': code }, { endStream: true });
  return false;
}

/** A stream of HTTP/2: a request and its answer. */
export class Http2Exchange implements Incoming, Answer {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Undefined when the connection was gone before the request was looked at. */
  readonly session: Http2Session | undefined;
  readonly isComplete = true;
  readonly #stream: ServerHttp2Stream;
  readonly #upload: WaitingUpload;
  #body: Readable | undefined;
  #ended = false;

  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
    upload: WaitingUpload = NO_UPLOAD,
  ) {
    this.#stream = stream;
    this.#upload = upload;
    this.headers = headers;
    this.rawHeaders = rawHeaders;
    this.session = stream.session;
  }

  get method(): string {
    return this.headers[':method'] ?? 'GET';
  }

  get url(): string {
    return this.headers[':path'] ?? '/';
  }

  get connection(): object {
    return this.session ?? this.#stream;
  }

  get peer(): Peer {
    return peerOf(this.connection, () => this.session?.socket);
  }

  /** A stream of its own: what breaks while the body is handed on must not take the answer with it. */
  get body(): Readable {
    this.#upload.end();
    this.#body ??= this.#stream.pipe(new PassThrough());
    return this.#body;
  }

  receive(receiver: Receiver): void {
    const stream = this.#stream;
    this.#upload.end();
    if (stream.endAfterHeaders) receiver.end();
    else if (this.#isClosed) receiver.broken();
    else {
      stream.on('data', (chunk: Buffer) => receiver.data(chunk));
      stream.once('end', () => receiver.end());
      stream.once('aborted', () => receiver.broken());
    }
  }

  /** RFC 9113, section 8.1. */
  endInput(): void {
    const stream = this.#stream;
    if (!stream.endAfterHeaders && !stream.readableEnded && !stream.closed)
      stream.close(constants.NGHTTP2_NO_ERROR);
  }

  hangUp(): void {
    if (this.session?.closed === false) this.session.close();
  }

  writeHead(code: number, headers: AnswerHeaders): void {
    if (!this.#isClosed) this.#stream.respond({ ':status': code, ...headers });
  }

  /** Heads never wait here. */
  flushHeaders(): void {}

  write(piece: Buffer, done?: () => void): boolean {
    return this.#stream.write(piece, done);
  }

  /** An answer without a body, as one to HEAD, has been ended with its head. */
  end(piece?: Buffer): void {
    this.#ended = true;
    if (this.#isClosed || this.#stream.writableEnded) return;
    if (piece === undefined) this.#stream.end();
    else this.#stream.end(piece);
  }

  destroy(): void {
    this.#stream.destroy();
  }

  /** Not the stream's, which ends what the client broke off. */
  get writableEnded(): boolean {
    return this.#ended;
  }

  get writableLength(): number {
    return this.#stream.writableLength;
  }

  get writableNeedDrain(): boolean {
    return this.#stream.writableNeedDrain;
  }

  once(event: 'drain' | 'close', listener: () => void): void {
    this.#stream.once(event, listener);
  }

  removeListener(event: 'drain', listener: () => void): void {
    this.#stream.removeListener(event, listener);
  }

  get #isClosed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }
}
