import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import {
  authorityOf,
  type Backend,
  type BackendAnswer,
  type BackendConnection,
  BackendError,
  type BackendMessage,
  type BackendTransport,
  encodePath,
} from '../request/backend.ts';
import { copyBody, framingOf } from './body-framing.ts';
import { NodeTransport, type TransportOptions, tlsOf, toBackendError } from './node-transport.ts';

/**
 * A server that supports no offered protocol reports so in the handshake (RFC 7301, section 3.2). The error code depends on
 * whether a write was pending when the alert came.
 */
const NO_PROTOCOL = /alert no application protocol/;
/** How long a connection without requests stays open. */
const IDLE_MS = 30_000;
const MAX_REMEMBERED = 1000;

/**
 * Uses HTTP/1.1, and HTTP/2 for backends that refuse HTTP/1.1. Over HTTP/1.1 each watch has its own connection, so that a slow
 * client delays no others; a backend with HTTP/2 only gets one connection for all.
 */
export class EitherTransport implements BackendTransport {
  readonly #http1: NodeTransport;
  readonly #http2: Http2Transport;
  /** Authorities of servers that refuse HTTP/1.1. */
  readonly #refusing = new Set<string>();

  constructor(options: TransportOptions) {
    this.#http1 = new NodeTransport(options);
    this.#http2 = new Http2Transport(options);
  }

  /** A body cannot be sent twice, so the first request to a server never sends one over HTTP/2. */
  async send(backend: Backend, message: BackendMessage): Promise<BackendAnswer> {
    const authority = authorityOf(backend);
    if (this.#refusing.has(authority)) return this.#sendHttp2(backend, message);
    try {
      return await this.#http1.send(backend, message);
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (this.#refusing.size >= MAX_REMEMBERED) this.#refusing.clear();
      this.#refusing.add(authority);
      if (message.body !== undefined) throw error;
      return this.#sendHttp2(backend, message);
    }
  }

  /** Only HTTP/1.1 can change its protocol. */
  upgrade(backend: Backend, message: BackendMessage): Promise<BackendAnswer | BackendConnection> {
    return this.#http1.upgrade(backend, message);
  }

  close(): void {
    this.#http1.close();
    this.#http2.close();
  }

  async #sendHttp2(backend: Backend, message: BackendMessage): Promise<BackendAnswer> {
    try {
      return await this.#http2.send(backend, message);
    } catch (error) {
      // Another server may be there now.
      this.#refusing.delete(authorityOf(backend));
      throw error;
    }
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof BackendError && error.cause instanceof Error && NO_PROTOCOL.test(error.cause.message);

/** The options of a session; a request with other options opens another. */
interface Opened {
  readonly session: Promise<ClientHttp2Session>;
  readonly tls: string;
}

class Http2Transport {
  readonly #options: TransportOptions;
  /** By authority. */
  readonly #sessions = new Map<string, Opened>();

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  async send(backend: Backend, message: BackendMessage): Promise<BackendAnswer> {
    try {
      const session = await this.#session(backend);
      return await exchange(session, backend, message);
    } catch (error) {
      throw error instanceof Error ? toBackendError(error, backend) : error;
    }
  }

  close(): void {
    for (const { session } of this.#sessions.values()) session.then((open) => open.destroy()).catch(() => {});
    this.#sessions.clear();
  }

  #session(backend: Backend): Promise<ClientHttp2Session> {
    const authority = authorityOf(backend);
    const options = tlsOf(backend, this.#options.credentials);
    const tls = JSON.stringify(options);
    const known = this.#sessions.get(authority);
    if (known?.tls === tls) return known.session;
    const session = this.#open(backend, options);
    const opened = { session, tls };
    this.#sessions.set(authority, opened);
    const forget = (): void => {
      if (this.#sessions.get(authority) === opened) this.#sessions.delete(authority);
    };
    session.then((open) => {
      open.once('close', forget);
      open.once('goaway', forget);
    }, forget);
    return session;
  }

  async #open(backend: Backend, options: ReturnType<typeof tlsOf>): Promise<ClientHttp2Session> {
    const { dial, timeoutMs } = this.#options;
    const timeout = timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : undefined;
    const port = Number(backend.port === '' ? 443 : backend.port);
    const socket = connectTls({
      ...options,
      ...(dial === undefined ? { host: backend.host, port } : { socket: await dial(backend.host, port) }),
      ALPNProtocols: ['h2'],
    });
    await secured(socket, timeout);
    const session = connect(`https://${authorityOf(backend)}`, { createConnection: () => socket });
    // Requests see the error on their streams.
    session.on('error', () => {});
    session.setTimeout(IDLE_MS, () => {
      // With an open stream this is a quiet watch.
      if (!underWay.has(session)) session.close();
    });
    return session;
  }
}

function secured(socket: Duplex, timeout: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = (): void => void socket.destroy(new BackendError('net/http: TLS handshake timeout'));
    timeout?.addEventListener('abort', late, { once: true });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      timeout?.removeEventListener('abort', late);
      socket.off('error', reject);
      resolve();
    });
  });
}

/** How many exchanges each session has. */
const underWay = new Map<ClientHttp2Session, number>();

function count(session: ClientHttp2Session, change: 1 | -1): void {
  const left = (underWay.get(session) ?? 0) + change;
  if (left === 0) underWay.delete(session);
  else underWay.set(session, left);
}

function exchange(
  session: ClientHttp2Session,
  backend: Backend,
  message: BackendMessage,
): Promise<BackendAnswer> {
  const { method, body, signal } = message;
  const { headers, length } = framingOf(message);
  const query = backend.query === '' ? '' : `?${backend.query}`;
  const head = {
    ...toHttp2Headers(headers),
    ':method': method,
    ':path': `${encodePath(backend.path) || '/'}${query}`,
  };
  return new Promise((resolve, reject) => {
    const stream = session.request(head, { endStream: body === undefined, signal });
    count(session, 1);
    stream.once('close', () => {
      count(session, -1);
      reject(new BackendError('EOF'));
    });
    stream.on('error', reject);
    stream.once('response', (received) => resolve(toAnswer(received, stream)));
    if (body !== undefined) copyBody(body, length, stream);
  });
}

/** Headers that belong to a connection are no headers here (RFC 9113, section 8.2.2). */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'host',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

function toHttp2Headers(flat: readonly string[]): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = (flat[at] ?? '').toLowerCase();
    const value = flat[at + 1] ?? '';
    if (name === 'host') headers[':authority'] = value;
    if (OF_CONNECTION.has(name)) continue;
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

function toAnswer(received: IncomingHttpHeaders, stream: ClientHttp2Stream): BackendAnswer {
  const headers = Object.entries(received).filter(([name]) => !name.startsWith(':'));
  const rawHeaders = headers.flatMap(([name, value = '']) => [value].flat().flatMap((one) => [name, one]));
  return {
    kind: 'answer',
    code: Number(received[':status'] ?? 0),
    message: '',
    headers: Object.fromEntries(headers),
    rawHeaders,
    body: stream,
  };
}
