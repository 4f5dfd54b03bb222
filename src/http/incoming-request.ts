import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Dialect } from '../api/dialect.ts';
import { StatusError } from '../api/status.ts';
import { parseRequestInfo, type RequestInfo } from '../pipeline/request-info.ts';
import type {
  ApiRequest,
  AuditTrail,
  PeerCertificate,
  RawRequest,
  ResourceTarget,
  UserInfo,
} from '../request/api-request.ts';
import { Waits } from '../request/waits.ts';
import type { Incoming } from './exchange.ts';
import { Warnings } from './response-headers.ts';

/** A request as the http layer received it, adapted to the layers below. */
export class IncomingRequest implements ApiRequest {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly receivedAt = new Date();
  readonly warnings = new Warnings();
  /** Headers that every response to this request has. */
  readonly addedHeaders: Record<string, string> = {};
  readonly waits = new Waits();
  receivedBytes = 0;
  audit: AuditTrail | undefined = undefined;
  knowsCbor = false;
  deadlineMs?: number;
  /** Set by authentication (markAuthenticated), and by impersonation; undefined where the caller was refused. */
  readonly user: UserInfo | undefined = undefined;
  readonly #info: RequestInfo;
  readonly #incoming: Incoming;
  readonly #upgrade: string;
  /** Created on first use: a small answer is made without one. */
  #abort: AbortController | undefined;
  #departure: AbortController | undefined;
  #aborted = false;
  #gone = false;

  /**
   * `upgrade` is the protocol that the connection can change to.
   * @throws Error for a path with broken escapes or control characters
   */
  constructor(incoming: Incoming, upgrade = '') {
    this.#incoming = incoming;
    this.#upgrade = upgrade;
    this.headers = incoming.headers;
    this.method = incoming.method;
    const { url } = incoming;
    const at = url.indexOf('?');
    this.path = decodePath(at < 0 ? url : url.slice(0, at));
    this.query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
    this.id = auditId(incoming.headers);
    this.#info = parseRequestInfo(this.method, this.path, this.query);
  }

  /** Undefined on HTTP/1.1. */
  get session(): Http2Session | undefined {
    return this.#incoming.session;
  }

  /** The same object for all requests on one connection. */
  get connection(): object {
    return this.#incoming.connection;
  }

  get isComplete(): boolean {
    return this.#incoming.isComplete;
  }

  endInput(): void {
    this.#incoming.endInput();
  }

  hangUp(): void {
    this.#incoming.hangUp();
  }

  sendElsewhere(): void {
    this.#incoming.sendElsewhere();
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
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#aborted) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get userAgent(): string {
    return this.headers['user-agent'] ?? '';
  }

  get sourceAddress(): string {
    return this.#incoming.peer.address;
  }

  get peerCertificate(): PeerCertificate | undefined {
    return this.#incoming.peer.certificate;
  }

  get raw(): RawRequest {
    const incoming = this.#incoming;
    return {
      headers: incoming.rawHeaders,
      url: incoming.url,
      get body() {
        return incoming.body;
      },
      upgrade: this.#upgrade,
    };
  }

  /** Aborts when the client can no longer be answered: later than {@link signal} when the time was up first. */
  get departure(): AbortSignal {
    if (this.#departure === undefined) {
      this.#departure = new AbortController();
      if (this.#gone) this.#departure.abort();
    }
    return this.#departure.signal;
  }

  expire(): void {
    this.#aborted = true;
    this.#abort?.abort();
  }

  /** The client has disconnected, or must get no more. */
  abort(): void {
    this.#gone = true;
    this.#departure?.abort();
    this.expire();
  }

  warn(text: string): void {
    this.warnings.add(text);
  }

  addHeader(name: string, value: string): void {
    this.addedHeaders[name] = value;
  }

  body(limitBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let sizeBytes = 0;
      this.#incoming.receive({
        data: (chunk) => {
          sizeBytes += chunk.length;
          this.receivedBytes = sizeBytes;
          if (sizeBytes <= limitBytes) chunks.push(chunk);
          else reject(tooLarge(limitBytes));
        },
        end: () => resolve(chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks)),
        broken: (error = brokenOff()) => reject(error),
      });
    });
  }
}

const EMPTY = Buffer.alloc(0);

/** NUL separates the parts of storage keys and line ends the lines of logs; no meaningful path has either. */
function decodePath(encoded: string): string {
  const path = encoded.includes('%') ? decodeURIComponent(encoded) : encoded;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (!path.startsWith('/') || /[\u0000-\u001f\u007f]/.test(path)) throw new URIError('malformed path');
  return path;
}

/** A caller may send an audit id of its own, so that its log and this server's can be joined. */
function auditId(headers: IncomingHttpHeaders): string {
  const given = headers['audit-id'];
  return typeof given === 'string' && /^[\x21-\x7e]{1,64}$/.test(given) ? given : randomUUID();
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
