import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Http2ServerRequest, Http2Session } from 'node:http2';
import type { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { Dialect } from '../api/dialect.ts';
import { StatusError } from '../api/status.ts';
import { parseRequestInfo, type RequestInfo } from '../pipeline/request-info.ts';
import type {
  ApiRequest,
  AuditTrail,
  PeerCertificate,
  RawRequest,
  ResourceTarget,
} from '../request/api-request.ts';
import type { HeaderMap } from './response-policy.ts';

export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** A request as the http layer received it, in the words of the layers below. */
export class IncomingRequest implements ApiRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly receivedAt = new Date();
  readonly warnings = new Set<string>();
  /** Headers that every response to this request has. */
  addedHeaders: HeaderMap = {};
  audit: AuditTrail | undefined = undefined;
  readonly #info: RequestInfo;
  readonly #incoming: NodeRequest;
  readonly #abort = new AbortController();

  readonly #upgrade: string;

  /**
   * `upgrade` is the protocol that the connection can change to.
   * @throws Error for a path with broken escapes or control characters
   */
  constructor(incoming: NodeRequest, upgrade = '') {
    this.#incoming = incoming;
    this.#upgrade = upgrade;
    this.headers = incoming.headers;
    this.method = incoming.method ?? 'GET';
    const url = incoming.url ?? '/';
    const at = url.indexOf('?');
    this.path = decodePath(at < 0 ? url : url.slice(0, at));
    this.query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
    this.id = auditId(incoming.headers);
    this.#info = parseRequestInfo(this.method, this.path, this.query);
  }

  /** Undefined on HTTP/1.1. */
  get session(): Http2Session | undefined {
    return 'stream' in this.#incoming ? this.#incoming.stream.session : undefined;
  }

  /** What all requests on one connection have in common. */
  get connection(): object {
    return this.session ?? this.#incoming.socket;
  }

  /** Whether the body has been received to its end. On HTTP/2 nobody need know: one stream does not block another. */
  get isComplete(): boolean {
    return this.session !== undefined || this.#incoming.complete;
  }

  get verb(): string {
    return this.#info.verb;
  }

  get target(): ResourceTarget | undefined {
    return this.#info.target;
  }

  get dialect(): Dialect {
    return this.#info.dialect;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get userAgent(): string {
    return this.headers['user-agent'] ?? '';
  }

  get sourceAddress(): string {
    return this.#incoming.socket.remoteAddress ?? '';
  }

  get peerCertificate(): PeerCertificate | undefined {
    return peerOf(this.#incoming);
  }

  get raw(): RawRequest {
    const incoming = this.#incoming;
    const body: Readable = incoming;
    return { headers: incoming.rawHeaders, url: incoming.url ?? '/', body, upgrade: this.#upgrade };
  }

  abort(): void {
    this.#abort.abort();
  }

  warn(text: string): void {
    this.warnings.add(text);
  }

  addHeader(name: string, value: string): void {
    this.addedHeaders = { ...this.addedHeaders, [name]: value };
  }

  body(limitBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      this.#incoming.on('data', (chunk: Buffer) => {
        sizeBytes += chunk.length;
        if (sizeBytes <= limitBytes) chunks.push(chunk);
        else reject(tooLarge(limitBytes));
      });
      this.#incoming.once('end', () =>
        resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks)),
      );
      this.#incoming.once('error', reject);
      this.#incoming.once('aborted', () => reject(brokenOff()));
    });
  }
}

const EMPTY = Buffer.alloc(0);

/** NUL separates the parts of a key and line ends those of a log: neither is in any path that means something. */
function decodePath(encoded: string): string {
  const path = encoded.includes('%') ? decodeURIComponent(encoded) : encoded;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (!path.startsWith('/') || /[\u0000-\u001f\u007f]/.test(path)) throw new URIError('malformed path');
  return path;
}

/** A caller may bring an audit id of its own, so that a proxy's log and ours can be joined. */
function auditId(headers: IncomingHttpHeaders): string {
  const given = headers['audit-id'];
  return typeof given === 'string' && /^[\x21-\x7e]{1,64}$/.test(given) ? given : randomUUID();
}

/** By HTTP/2 session, or by socket. Absent: not asked yet. */
const peers = new WeakMap<object, { readonly peer: PeerCertificate | undefined }>();

/**
 * Read once a connection: asking TLS for the chain costs many times what serving a small object does. A session hands out
 * its socket behind a new proxy each time, so the session itself is what is remembered.
 */
function peerOf(incoming: NodeRequest): PeerCertificate | undefined {
  const session = 'stream' in incoming ? incoming.stream.session : undefined;
  const connection = session ?? incoming.socket;
  const known = peers.get(connection);
  if (known !== undefined) return known.peer;
  const peer = readPeer((session?.socket ?? incoming.socket) as Partial<TLSSocket>);
  peers.set(connection, { peer });
  return peer;
}

function readPeer(socket: Partial<TLSSocket>): PeerCertificate | undefined {
  if (socket.getPeerCertificate === undefined) return undefined;
  const chain: Buffer[] = [];
  let certificate = socket.getPeerCertificate(true);
  while (certificate?.raw !== undefined && !chain.some((der) => der.equals(certificate.raw))) {
    chain.push(certificate.raw);
    certificate = certificate.issuerCertificate;
  }
  return chain.length === 0 ? undefined : { chain };
}

function tooLarge(limitBytes: number): StatusError {
  return new StatusError({
    code: 413,
    reason: 'RequestEntityTooLarge',
    message: `Request entity too large: limit is ${limitBytes}`,
  });
}

const brokenOff = (): StatusError =>
  new StatusError({
    code: 400,
    reason: 'BadRequest',
    message: 'the client broke off while sending the body',
  });
