import {
  constants,
  type Http2SecureServer,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { PassThrough, type Readable } from 'node:stream';
import {
  type Answer,
  type AnswerHeaders,
  type Incoming,
  type Peer,
  peerOf,
  type Receiver,
} from './exchange.ts';

/**
 * Calls `serve` for every stream, in place of Node's layer that makes streams look like HTTP/1.1. That layer costs a quarter of
 * the CPU of a small answer on a bare server (62 µs → 48 µs), most of it for trailers, which end each answer with a frame of
 * its own in another round of the event loop.
 */
export function acceptStreams(server: Http2SecureServer, serve: (exchange: Http2Exchange) => void): void {
  // A listener for requests, which HTTP/1.1 needs, brings that layer with it: a listener for streams.
  server.removeAllListeners('stream');
  const uploads = new Uploads();
  server.on(
    'stream',
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
      // An error also closes the stream, which is handled there.
      stream.on('error', () => {});
      if (!expects(stream, headers)) return;
      const upload = stream.endAfterHeaders ? NO_UPLOAD : beginUpload(uploads, stream, headers);
      // The request was not processed yet, so clients may send it again (RFC 9113, section 8.7).
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

/** RFC 9110, section 10.1.1: a client that expects 100-continue gets it; other expectations cannot be met. */
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

/** Sessions whose clients have been sent elsewhere. */
const leaving = new WeakSet<Http2Session>();
/** The largest id of a client's stream. */
const LAST_STREAM = 2 ** 31 - 1;
/** Time for streams that the client began before it heard that it should leave. */
const LEAVE_MS = 1000;

/** A stream of HTTP/2: a request and its answer. */
class Http2Exchange implements Incoming, Answer {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Undefined when the connection was gone before the request was handled. */
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

  /** A separate stream, so that an error while the body is passed on does not break the answer. */
  get body(): Readable | undefined {
    this.#upload.end();
    if (this.#stream.endAfterHeaders) return undefined;
    this.#body ??= copyOf(this.#stream);
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

  /**
   * RFC 9113, section 6.8: the first GOAWAY refuses no stream, the second one those that came after it. With the second alone, clients
   * that do not repeat requests by themselves, as Go's do, would lose those on their way.
   */
  sendElsewhere(): void {
    const { session } = this;
    if (session === undefined || session.closed || leaving.has(session)) return;
    leaving.add(session);
    session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
    const timer = setTimeout(() => session.close(), LEAVE_MS).unref();
    session.once('close', () => clearTimeout(timer));
  }

  writeHead(code: number, headers: AnswerHeaders): void {
    if (!this.#isClosed) this.#stream.respond({ ':status': code, ...headers });
  }

  /** HTTP/2 sends heads at once. */
  flushHeaders(): void {}

  write(piece: Buffer, done?: () => void): boolean {
    return this.#stream.write(piece, done);
  }

  cork(): void {
    this.#stream.cork();
  }

  uncork(): void {
    this.#stream.uncork();
  }

  /** An answer without a body, such as one to HEAD, ended with its head. */
  end(piece?: Buffer): void {
    this.#ended = true;
    if (this.#isClosed || this.#stream.writableEnded) return;
    if (piece === undefined) this.#stream.end();
    else this.#stream.end(piece);
  }

  destroy(): void {
    this.#stream.destroy();
  }

  /** Not the stream's own, which is true for an answer that the client broke off. */
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

/** Breaks off where the client does: the stream itself ends then as if the body were whole. */
function copyOf(stream: ServerHttp2Stream): Readable {
  const copy = new PassThrough();
  // An error before the body is read has its cause in the client, which gets no answer.
  copy.on('error', () => {});
  const breakOff = (): void => void copy.destroy(new Error('the client broke off while sending the body'));
  if (stream.aborted || stream.destroyed) breakOff();
  else stream.once('aborted', breakOff);
  return stream.pipe(copy);
}

/**
 * A bound on bodies that arrive over HTTP/2 while their requests wait for a turn. Each stream may fill its window before its body
 * is read, and a connection has a thousand streams. The bound counts the lengths that requests announce.
 */
export const WINDOW_BYTES = 256 * 1024;
/** Bytes that may wait on one connection: 128 requests that announce no length, or all streams with 32 kB each. */
const MAX_CONNECTION_BYTES = 128 * WINDOW_BYTES;
const MAX_BYTES = 8 * MAX_CONNECTION_BYTES;

interface WaitingUpload {
  /** Call it when the body is read or will never be. May be called again. */
  end(): void;
}

export class Uploads {
  readonly #waiting = new WeakMap<object, number>();
  #bytes = 0;

  /** Undefined when there is no room. `announced`: the content-length. */
  begin(connection: object, announced: string | undefined): WaitingUpload | undefined {
    const most = Math.min(WINDOW_BYTES, toLength(announced));
    const before = this.#waiting.get(connection) ?? 0;
    if (before + most > MAX_CONNECTION_BYTES || this.#bytes + most > MAX_BYTES) return undefined;
    this.#add(connection, most);
    let ended = false;
    return {
      end: () => {
        if (!ended) this.#add(connection, -most);
        ended = true;
      },
    };
  }

  #add(connection: object, bytes: number): void {
    this.#waiting.set(connection, (this.#waiting.get(connection) ?? 0) + bytes);
    this.#bytes += bytes;
  }
}

/** A body without a length may fill its window; nghttp2 ends streams that exceed their announced length. */
const toLength = (announced: string | undefined): number =>
  announced !== undefined && /^\d{1,15}$/.test(announced) ? Number(announced) : WINDOW_BYTES;
