import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import { type Duplex, pipeline } from 'node:stream';
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
import type { AgentCredentials } from './agent-credentials.ts';
import { toBackendError } from './network-error.ts';

export interface TransportOptions {
  readonly credentials: AgentCredentials;
  /** --agent-timeout; 0 for none. */
  readonly timeoutMs: number;
}

/**
 * Backends over HTTP/1.1. Each exchange has a connection of its own: a kept one can die between two requests, and a request
 * with a body, half read from the client, cannot be sent twice.
 */
export class NodeTransport implements BackendTransport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  send(backend: Backend, message: BackendMessage): Promise<BackendAnswer> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#open(backend, message, reject);
      outgoing.once('response', (incoming) => resolve(toAnswer(incoming)));
      const { body } = message;
      // The request's own error says all that the copying of its body could.
      if (body === undefined) outgoing.end();
      else pipeline(body, outgoing, () => {});
    });
  }

  upgrade(backend: Backend, message: BackendMessage): Promise<BackendAnswer | BackendConnection> {
    return new Promise((resolve, reject) => {
      const outgoing = this.#open(backend, message, reject);
      outgoing.once('response', (incoming) => resolve(toAnswer(incoming)));
      outgoing.once('upgrade', (incoming, stream, head) => resolve(toConnection(incoming, stream, head)));
      outgoing.end();
    });
  }

  #open(backend: Backend, message: BackendMessage, fail: (error: BackendError) => void): ClientRequest {
    const { scheme, host, port, path, query } = backend;
    const options = {
      host,
      ...(port === '' ? {} : { port }),
      method: message.method,
      path: `${encodePath(path) || '/'}${query === '' ? '' : `?${query}`}`,
      headers: [...message.headers],
      agent: false,
      signal: message.signal,
      ...(scheme === 'https' ? this.#tls(backend) : {}),
    } as const;
    const outgoing = begin(scheme, options, backend);
    outgoing.on('error', (error) => fail(toBackendError(error, backend)));
    outgoing.once('close', () => fail(new BackendError('EOF')));
    this.#hurry(outgoing, backend, message.hurried);
    return outgoing;
  }

  #tls({ trust }: Backend): RequestOptions {
    if (trust === 'none') return { rejectUnauthorized: false };
    const { credentials } = this.#options;
    return { ...credentials.current(), rejectUnauthorized: trust === 'agent' && credentials.verifies };
  }

  /** Until the connection stands, or until the answer begins. */
  #hurry(outgoing: ClientRequest, backend: Backend, toAnswer: boolean): void {
    const { timeoutMs } = this.#options;
    if (timeoutMs <= 0) return;
    const target = authorityOf(backend);
    const timer = setTimeout(
      () => outgoing.destroy(new BackendError(`dial tcp ${target}: i/o timeout`)),
      timeoutMs,
    );
    const stop = (): void => clearTimeout(timer);
    outgoing.once('close', stop);
    outgoing.once('response', stop);
    outgoing.once('upgrade', stop);
    if (toAnswer) return;
    outgoing.once('socket', (socket) =>
      socket.once(backend.scheme === 'https' ? 'secureConnect' : 'connect', stop),
    );
  }
}

/** @throws BackendError for a port or header that Node takes for none */
function begin(scheme: Backend['scheme'], options: RequestOptions, backend: Backend): ClientRequest {
  try {
    return scheme === 'https' ? requestHttps(options) : requestHttp(options);
  } catch (error) {
    throw error instanceof Error ? toBackendError(error, backend) : error;
  }
}

const toAnswer = (incoming: IncomingMessage): BackendAnswer => ({
  kind: 'answer',
  code: incoming.statusCode ?? 0,
  message: incoming.statusMessage ?? '',
  headers: incoming.headers,
  rawHeaders: incoming.rawHeaders,
  body: incoming,
});

function toConnection(incoming: IncomingMessage, stream: Duplex, head: Buffer): BackendConnection {
  if (head.length > 0) stream.unshift(head);
  return {
    kind: 'connection',
    message: incoming.statusMessage ?? '',
    rawHeaders: incoming.rawHeaders,
    stream,
  };
}
