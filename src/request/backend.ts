import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Readable } from 'node:stream';

/** Servers that the proxies pass requests on to: node agents, pods, the endpoints of services. */

export interface Backend {
  readonly scheme: 'http' | 'https';
  /** A name or an address, without brackets. */
  readonly host: string;
  /** '' is the scheme's own. */
  readonly port: string;
  /** The addresses of the host that were checked, which alone are dialled; undefined: none was checked. */
  readonly addresses?: readonly string[];
  /** Decoded; '' or beginning with a slash. */
  readonly path: string;
  /** The server takes websockets as clients send them. */
  readonly speaksWebSocket?: boolean;
  /** Without the question mark. */
  readonly query: string;
  /**
   * `agent`: presents this server's certificate and verifies the agent's. `agent-unverified`: presents it and verifies nothing.
   * `none`: pods and services; their certificates cannot be verified here, and they must not see this server's. An object: how
   * to verify the server, which also sees this server's certificate.
   */
  readonly trust: 'agent' | 'agent-unverified' | 'none' | BackendTls;
}

/** How the certificate of one backend is verified. */
export interface BackendTls {
  /** Authorities in PEM form; undefined: those that the host trusts. */
  readonly ca: string | undefined;
  /** The name that the certificate must be for. */
  readonly serverName: string;
  readonly isVerified: boolean;
}

export interface BackendMessage {
  readonly method: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Absent: none. */
  readonly body?: Readable;
  /** Ends everything that belongs to the exchange. */
  readonly signal: AbortSignal;
  /** The timeout covers the head of the answer, not just the connection. */
  readonly hurried: boolean;
}

export interface BackendAnswer {
  readonly kind: 'answer';
  readonly code: number;
  readonly message: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
}

/** The backend has accepted the protocol change. */
export interface BackendConnection {
  readonly kind: 'connection';
  readonly message: string;
  readonly rawHeaders: readonly string[];
  readonly stream: Duplex;
}

export interface BackendTransport {
  /** Resolves with the head of the answer. @throws BackendError */
  send(backend: Backend, message: BackendMessage): Promise<BackendAnswer>;
  /** Asks for another protocol, as the headers of the message say. @throws BackendError */
  upgrade(backend: Backend, message: BackendMessage): Promise<BackendAnswer | BackendConnection>;
}

/** The backend cannot be reached, or broke off before it answered. The message may be shown to clients. */
export class BackendError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackendError';
  }
}

/** `host:port` as in a URL. */
export function authorityOf({ host, port }: Pick<Backend, 'host' | 'port'>): string {
  const bracketed = host.includes(':') ? `[${host}]` : host;
  return port === '' ? bracketed : `${bracketed}:${port}`;
}

/** A decoded path as it is written in a request. */
export const encodePath = (path: string): string =>
  encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23');

export function urlOf(backend: Backend): string {
  const query = backend.query === '' ? '' : `?${backend.query}`;
  return `${backend.scheme}://${authorityOf(backend)}${encodePath(backend.path)}${query}`;
}
