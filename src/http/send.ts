import type { ServerResponse } from 'node:http';
import { gzip } from 'node:zlib';
import type { ApiResponse, BytesResponse, ResponseSink, StreamResponse } from '../request/api-response.ts';
import type { IncomingRequest } from './incoming-request.ts';
import type { Throttle } from './throttle.ts';

/** HTTP/2's compatibility response has what is used here of HTTP/1's (node:http2, Http2ServerResponse). */
export type NodeResponse = ServerResponse;

/** Smaller responses are not worth compressing (Kubernetes: the same bound). */
const MIN_COMPRESSED_BYTES = 128 * 1024;
/** Level 1, as Kubernetes chose: the next ones cost twice the time for a tenth less. */
const GZIP_LEVEL = 1;

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
  outgoing: NodeResponse,
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

type Headers = Record<string, string | string[]>;

function headersOf(request: IncomingRequest, response: BytesResponse | StreamResponse): Headers {
  const headers: Headers = {
    'audit-id': request.id,
    'cache-control': 'no-cache, private',
    ...(response.contentType === '' ? {} : { 'content-type': response.contentType }),
    ...request.addedHeaders,
  };
  for (const [name, value] of Object.entries(response.headers ?? {})) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  if (request.warnings.size > 0) headers.warning = [...request.warnings].map(toWarning);
  return headers;
}

/** RFC 7234, section 5.5: code, agent, quoted text. Control characters would end the header. */
function toWarning(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]/g, '?');
  return `299 - ${JSON.stringify(printable)}`;
}

async function sendBytes(
  { compresses, patienceMs }: SendOptions,
  request: IncomingRequest,
  response: BytesResponse,
  outgoing: NodeResponse,
): Promise<void> {
  const headers = headersOf(request, response);
  let { chunks } = response;
  let sizeBytes = 0;
  for (const chunk of chunks) sizeBytes += chunk.length;
  if (compresses && response.compressible && sizeBytes > MIN_COMPRESSED_BYTES && acceptsGzip(request)) {
    const packed = await compress(Buffer.concat(chunks));
    chunks = [packed];
    sizeBytes = packed.length;
    headers['content-encoding'] = 'gzip';
    headers.vary = 'Accept-Encoding';
  }
  headers['content-length'] = String(sizeBytes);
  outgoing.writeHead(response.code, headers);
  if (request.method === 'HEAD') {
    outgoing.end();
    return;
  }
  const last = chunks.length - 1;
  // Small pieces go in one write: two would be two packets.
  if (last <= 0 || sizeBytes < 64 * 1024) {
    outgoing.end(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    return;
  }
  for (const chunk of chunks) {
    if (request.signal.aborted) return;
    if (!outgoing.write(chunk)) await readInTime(request, outgoing, patienceMs);
  }
  outgoing.end();
}

const acceptsGzip = ({ headers }: IncomingRequest): boolean =>
  /(^|[\s,])gzip($|[\s,;])/.test(String(headers['accept-encoding'] ?? ''));

function compress(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(bytes, { level: GZIP_LEVEL }, (error, packed) => (error === null ? resolve(packed) : reject(error)));
  });
}

/** A client that asks and does not read would hold the whole answer in memory for as long as it likes. */
async function readInTime(
  request: IncomingRequest,
  outgoing: NodeResponse,
  patienceMs: number,
): Promise<void> {
  const timer = setTimeout(() => outgoing.destroy(), patienceMs);
  await drained(request, outgoing);
  clearTimeout(timer);
}

function drained(request: IncomingRequest, outgoing: NodeResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.removeListener('drain', done);
      request.signal.removeEventListener('abort', done);
      resolve();
    };
    outgoing.once('drain', done);
    request.signal.addEventListener('abort', done, { once: true });
    if (request.signal.aborted) done();
  });
}

async function sendStream(
  { throttle }: SendOptions,
  request: IncomingRequest,
  response: StreamResponse,
  outgoing: NodeResponse,
): Promise<void> {
  let opened = false;
  let full = false;
  const open = (): void => {
    if (opened) return;
    opened = true;
    outgoing.writeHead(response.code, headersOf(request, response));
    outgoing.flushHeaders();
  };
  const sink: ResponseSink = {
    open,
    write: (frame) => {
      open();
      if (request.signal.aborted) return true;
      full = !outgoing.write(frame);
      return !full;
    },
    drained: async () => {
      if (full) await drained(request, outgoing);
      full = false;
    },
  };
  await response.run(throttle.limit(request.connection, sink, request.signal));
  open();
  outgoing.end();
}
