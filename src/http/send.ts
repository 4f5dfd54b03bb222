import { gzipPieces } from '../codec/gzip.ts';
import type { ApiResponse, BytesResponse, ResponseSink, StreamResponse } from '../request/api-response.ts';
import { endTurn } from '../util/turns.ts';
import type { Answer, AnswerHeaders } from './exchange.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { openBody, type StreamBody, type Throttle } from './stream-body.ts';

/** Smaller responses are not worth compressing (Kubernetes: the same bound). */
const MIN_COMPRESSED_BYTES = 128 * 1024;

export interface SendOptions {
  /** Feature gate APIResponseCompression. */
  readonly compresses: boolean;
  readonly throttle: Throttle;
  /** How long a client may leave a complete answer unread. */
  readonly patienceMs: number;
}

/** Puts a response onto a connection, HTTP/1.1 or HTTP/2. */
export async function send(
  options: SendOptions,
  request: IncomingRequest,
  response: ApiResponse,
  outgoing: Answer,
): Promise<void> {
  switch (response.kind) {
    case 'bytes':
      return sendBytes(options, request, response, outgoing);
    case 'stream':
      return sendStream(options, request, response, outgoing);
    case 'tunnel':
      throw new Error('only a connection that asks for an upgrade can be taken over');
    default:
      response satisfies never;
  }
}

function headersOf(request: IncomingRequest, response: BytesResponse | StreamResponse): AnswerHeaders {
  const headers: AnswerHeaders = {
    'audit-id': request.id,
    'cache-control': 'no-cache, private',
    ...(response.contentType === '' ? {} : { 'content-type': response.contentType }),
    ...request.addedHeaders,
  };
  for (const [name, value] of Object.entries(response.headers ?? {})) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  const warnings = request.warnings.shown();
  if (warnings.length > 0) headers.warning = warnings.map(toWarning);
  return headers;
}

/** RFC 7234, section 5.5: code, agent, quoted text. Control characters would end the header. */
function toWarning(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/g, '?');
  return `299 - ${JSON.stringify(printable)}`;
}

/** The receiver of an answer, and how long it may leave the answer unread. */
interface Connection {
  readonly request: IncomingRequest;
  readonly outgoing: Answer;
  readonly patienceMs: number;
}

async function sendBytes(
  { compresses, patienceMs }: SendOptions,
  request: IncomingRequest,
  response: BytesResponse,
  outgoing: Answer,
): Promise<void> {
  const headers = headersOf(request, response);
  const { chunks, rest, code } = response;
  const isHead = request.method === 'HEAD';
  let sizeBytes = response.sizeBytes ?? 0;
  if (rest === undefined) for (const chunk of chunks) sizeBytes += chunk.length;
  const isLarge = rest !== undefined || sizeBytes > MIN_COMPRESSED_BYTES;
  if (compresses && isLarge && response.compressible && !isHead && acceptsGzip(request)) {
    outgoing.writeHead(code, { ...headers, 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    const packed = response.packed?.() ?? gzipPieces(piecesOf(response));
    return sendPieces({ request, outgoing, patienceMs }, packed);
  }
  if (rest === undefined || response.sizeBytes !== undefined) headers['content-length'] = String(sizeBytes);
  outgoing.writeHead(code, headers);
  if (isHead) outgoing.end();
  // Small pieces go in one write: two would be two packets.
  else if (rest === undefined && (chunks.length <= 1 || sizeBytes < 64 * 1024)) {
    outgoing.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
  } else await sendPieces({ request, outgoing, patienceMs }, piecesOf(response));
}

function* piecesOf({ chunks, rest }: BytesResponse): Iterable<Buffer> {
  yield* chunks;
  if (rest !== undefined) yield* rest;
}

/** The next piece is made after this one was sent, so that it can use the same memory and other work has its turn. */
async function sendPieces(
  connection: Connection,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<void> {
  const { request, outgoing } = connection;
  for await (const piece of pieces) {
    if (request.departure.aborted) return;
    await (piece.length === 0 ? endTurn() : patiently(connection, written(connection, piece)));
  }
  outgoing.end();
}

/** Resolves when the piece is sent or the client has gone. */
function written({ request, outgoing }: Connection, piece: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.departure.removeEventListener('abort', done);
      resolve();
    };
    request.departure.addEventListener('abort', done, { once: true });
    outgoing.write(piece, done);
    if (request.departure.aborted) done();
  });
}

const acceptsGzip = ({ headers }: IncomingRequest): boolean =>
  /(^|[\s,])gzip($|[\s,;])/.test(String(headers['accept-encoding'] ?? ''));

/** Breaks off after `patienceMs`: a client that does not read would hold the answer in memory for as long as it likes. */
async function patiently({ outgoing, patienceMs }: Connection, reading: Promise<void>): Promise<void> {
  const timer = setTimeout(() => outgoing.destroy(), patienceMs);
  await reading;
  clearTimeout(timer);
}

function drained(request: IncomingRequest, outlet: StreamBody['outlet']): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outlet.removeListener('drain', done);
      request.departure.removeEventListener('abort', done);
      resolve();
    };
    outlet.once('drain', done);
    request.departure.addEventListener('abort', done, { once: true });
    if (request.departure.aborted) done();
  });
}

async function sendStream(
  { throttle }: SendOptions,
  request: IncomingRequest,
  response: StreamResponse,
  outgoing: Answer,
): Promise<void> {
  let body: StreamBody | undefined;
  let full = false;
  const open = (): StreamBody => {
    if (body !== undefined) return body;
    outgoing.writeHead(response.code, headersOf(request, response));
    outgoing.flushHeaders();
    body = openBody(outgoing);
    return body;
  };
  const sink: ResponseSink = {
    open: () => void open(),
    write: (frame) => {
      const { write } = open();
      if (request.departure.aborted) return true;
      full = !write(frame);
      return !full;
    },
    drained: async () => {
      if (full) await drained(request, open().outlet);
      full = false;
    },
  };
  await response.run(throttle.limit(request.connection, sink, request.departure));
  open().end();
}
