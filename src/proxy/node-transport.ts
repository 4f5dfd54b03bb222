import {
  type ClientRequest,
  type Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { type RequestOptions, request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Dial } from '../outbound/egress/dial.ts';
import { createHttpAgent } from '../outbound/egress/dialled-agents.ts';
import { networkText } from '../outbound/http-client.ts';
import { SecureAgent } from '../outbound/secure-agent.ts';
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
import { FollowedFiles } from '../util/followed-files.ts';
import { copyBody, framingOf } from './body-framing.ts';

export interface TransportOptions {
  readonly credentials: AgentCredentials;
  /** --agent-timeout; 0 for none. */
  readonly timeoutMs: number;
  /** Opens the connections; undefined: the system does. */
  readonly dial?: Dial | undefined;
  /** Requests that change nothing share connections, which stay open. */
  readonly reusesConnections?: boolean;
}

/** Connections that wait for the next request, to each server, and how long. */
const MAX_IDLE_SOCKETS = 8;
const IDLE_MS = 30_000;
/** Methods that change nothing, so that a request may be sent twice. */
const REPEATABLE = /^(GET|HEAD|OPTIONS)$/;

/**
 * Uses HTTP/1.1. A request with a body or with effects gets its own connection: a reused one may break after the backend has
 * acted on the request, and a body that is partly read cannot be sent again.
 */
export class NodeTransport implements BackendTransport {
  readonly #options: TransportOptions;
  readonly #shared: SecureAgent | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    if (options.reusesConnections === true)
      this.#shared = new SecureAgent(
        { keepAlive: true, maxFreeSockets: MAX_IDLE_SOCKETS, timeout: IDLE_MS },
        options.dial,
      );
  }

  async send(backend: Backend, message: BackendMessage): Promise<BackendAnswer> {
    const shared = message.body === undefined && REPEATABLE.test(message.method) ? this.#shared : undefined;
    if (shared === undefined) return this.#send(backend, message, false);
    try {
      return await this.#send(backend, message, shared);
    } catch (error) {
      if (!(error instanceof StaleConnection) || message.signal.aborted) throw error;
      return this.#send(backend, message, false);
    }
  }

  /** Closes idle connections. */
  close(): void {
    this.#shared?.destroy();
  }

  #send(backend: Backend, message: BackendMessage, agent: SecureAgent | false): Promise<BackendAnswer> {
    return new Promise((resolve, reject) => {
      const { headers, length } = framingOf(message);
      const outgoing = this.#open(backend, { ...message, headers }, { agent, fail: reject });
      outgoing.once('response', (incoming) => resolve(toAnswer(incoming)));
      const { body } = message;
      // The request emits the same errors as the copying of its body.
      if (body === undefined) outgoing.end();
      else copyBody(body, length, outgoing);
    });
  }

  upgrade(backend: Backend, message: BackendMessage): Promise<BackendAnswer | BackendConnection> {
    return new Promise((resolve, reject) => {
      const { body: _, ...bodiless } = message;
      const { headers } = framingOf(bodiless);
      const outgoing = this.#open(backend, { ...bodiless, headers }, { agent: false, fail: reject });
      outgoing.once('response', (incoming) => resolve(toAnswer(incoming)));
      outgoing.once('upgrade', (incoming, stream, head) => resolve(toConnection(incoming, stream, head)));
      outgoing.end();
    });
  }

  #open(
    backend: Backend,
    message: BackendMessage,
    { agent, fail }: { readonly agent: SecureAgent | false; fail(error: BackendError): void },
  ): ClientRequest {
    const { scheme, host, port, path, query, addresses } = backend;
    const options = {
      host,
      ...(port === '' ? {} : { port }),
      ...(addresses === undefined ? {} : { lookup: lookupAmong(addresses) }),
      method: message.method,
      path: `${encodePath(path) || '/'}${query === '' ? '' : `?${query}`}`,
      headers: [...message.headers],
      agent: agent === false ? this.#agentFor(scheme) : agent,
      signal: message.signal,
      ...(scheme === 'https' ? tlsOf(backend, this.#options.credentials) : {}),
    } as const;
    const outgoing = begin(scheme, options, backend);
    outgoing.on('error', (error) => {
      const failure = toBackendError(error, backend);
      fail(outgoing.reusedSocket ? new StaleConnection(failure.message, { cause: error }) : failure);
    });
    outgoing.once('close', () => fail(new BackendError('EOF')));
    this.#hurry(outgoing, backend, message.hurried);
    return outgoing;
  }

  /** An agent for each exchange. */
  #agentFor(scheme: Backend['scheme']): HttpAgent | false {
    const { dial } = this.#options;
    if (dial === undefined) return false;
    return scheme === 'https' ? new SecureAgent({}, dial) : createHttpAgent({}, dial);
  }

  /** Limits the time to connect, or to the answer. */
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
    outgoing.once('socket', (socket) => {
      // A socket dialled through a proxy is already connected.
      if (backend.scheme === 'http' && socket.connecting !== true) stop();
      else socket.once(backend.scheme === 'https' ? 'secureConnect' : 'connect', stop);
    });
  }
}

/** Uses the addresses that were checked: a second DNS lookup could return others. */
const lookupAmong =
  (addresses: readonly string[]): LookupFunction =>
  (host, { all }, done) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = found;
    if (first === undefined)
      done(Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' }), '');
    else if (all === true) done(null, found);
    else done(null, first.address, first.family);
  };

interface TlsOptions extends AgentTls {
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
  readonly ALPNProtocols?: string[];
}

/** How a connection to the backend is secured. */
export function tlsOf({ trust }: Pick<Backend, 'trust'>, credentials: AgentCredentials): TlsOptions {
  if (trust === 'none') return { rejectUnauthorized: false };
  if (typeof trust === 'object') {
    const { ca, serverName, isVerified } = trust;
    const authorities = ca === undefined ? {} : { ca };
    return {
      ...credentials.current(),
      ...authorities,
      servername: serverName,
      rejectUnauthorized: isVerified,
      // Without ALPN, a server with HTTP/2 only would refuse by an answer that looks like its own.
      ALPNProtocols: ['http/1.1'],
    };
  }
  return { ...credentials.current(), rejectUnauthorized: trust === 'agent' && credentials.verifies };
}

/** A reused connection broke before it gave an answer: the server may have closed it meanwhile. */
class StaleConnection extends BackendError {}

/** @throws BackendError for a port or header that Node refuses */
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

interface AgentCredentialFiles {
  /** Each is '' when it is not configured. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

interface AgentTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** How often the files are checked; new ones take effect within this time. */
const CHECK_MS = 1000;

/** The certificate for node agents, and the authority that verifies theirs. Both are reloaded when their files change. */
export class AgentCredentials {
  readonly #files: FollowedFiles<AgentTls>;
  #checkedAt = Date.now();

  /** @throws Error for a file that cannot be read */
  constructor(files: AgentCredentialFiles) {
    const given = NAMES.map((name) => ({ name, path: files[`${name}File`] })).filter(
      ({ path }) => path !== '',
    );
    this.#files = new FollowedFiles({
      paths: given.map(({ path }) => path),
      make: (texts): AgentTls => Object.fromEntries(texts.map((text, at) => [given[at]?.name, text])),
    });
  }

  /** Without an authority agents are not verified, because they sign their own certificates (Kubernetes: the same). */
  get verifies(): boolean {
    return this.#files.current.ca !== undefined;
  }

  /** While only some of the files have been replaced, the old ones stay in use. */
  current(): AgentTls {
    if (Date.now() - this.#checkedAt >= CHECK_MS) {
      this.#checkedAt = Date.now();
      void this.#files.look();
    }
    return this.#files.current;
  }
}

const NAMES = ['ca', 'cert', 'key'] as const;

export function toBackendError(error: NodeJS.ErrnoException, backend: Backend): BackendError {
  if (error instanceof BackendError) return error;
  const port = backend.port || (backend.scheme === 'https' ? '443' : '80');
  const authority = authorityOf({ ...backend, port });
  return new BackendError(networkText(error, { host: backend.host, authority }), { cause: error });
}
