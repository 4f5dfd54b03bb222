import {
  type ClientRequest,
  type Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { RemoteServer } from './client-config.ts';
import { createHttpAgent } from './egress/dialled-agents.ts';
import { SecureAgent } from './secure-agent.ts';

interface PostOptions {
  /** Limit for the whole exchange, the answer included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** A longer answer is an error. 0: only the code of the answer matters, and its body is not awaited. */
  readonly maxAnswerBytes: number;
  /** Query of this request, without the `?`. */
  readonly query?: string;
  /** The span that the request is part of (W3C Trace Context). */
  readonly traceparent?: string | undefined;
}

export interface Answer {
  readonly code: number;
  readonly body: Buffer;
  readonly contentType: string;
}

/** No answer came within PostOptions.timeoutMs. */
export class AnswerTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs / 1000}s`);
    this.name = 'AnswerTimeout';
  }
}

/** The longest body that is read and ignored when only the code matters. */
const MAX_IDLE_BYTES = 64 * 1024;

const UNAUTHORIZED = 401;

interface Connection {
  readonly url: URL;
  /** Whether the agent reaches other servers too; a dial is for this one. */
  readonly reachesOthers: boolean;
  readonly authorization: string | undefined;
  readonly agent: HttpAgent | SecureAgent;
}

/**
 * Posts JSON to one server over connections that stay open. After a failure the configuration is read again, certificates and
 * tokens too, because they may be the cause and may have been renewed since.
 */
export class WebhookClient {
  readonly #read: () => RemoteServer;
  #connection: Connection | undefined;

  /** @throws Error when `read` does */
  constructor(read: () => RemoteServer) {
    this.#read = read;
    this.#connection = connect(read());
  }

  /** Resolves with an answer of any code; follows redirects of a POST, 307 and 308. @throws Error without an answer */
  async post(body: Buffer, options: PostOptions): Promise<Answer> {
    this.#connection ??= connect(this.#read());
    const connection = this.#connection;
    try {
      const answer = await exchangeToTheEnd(connection, body, options);
      if (answer.code === UNAUTHORIZED) this.#leave(connection);
      return answer;
    } catch (error) {
      this.#leave(connection);
      throw error;
    }
  }

  /** Other requests may still wait for answers on the agent's sockets, so each socket is closed when it becomes free. */
  #leave({ agent }: Connection): void {
    if (this.#connection?.agent === agent) this.#connection = undefined;
    agent.maxFreeSockets = 0;
    for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
  }

  /** Like close, but requests under way still get their answers. */
  retire(): void {
    if (this.#connection !== undefined) this.#leave(this.#connection);
  }

  close(): void {
    this.#connection?.agent.destroy();
    this.#connection = undefined;
  }
}

function connect(server: RemoteServer): Connection {
  const { ca, certificate, key, serverName, insecureSkipVerify, authorization, dial } = server;
  const url = new URL(server.url);
  const base = { url, authorization, reachesOthers: dial === undefined };
  if (url.protocol === 'http:') return { ...base, agent: createHttpAgent({ keepAlive: true }, dial) };
  const agent = new SecureAgent(
    {
      keepAlive: true,
      rejectUnauthorized: !insecureSkipVerify,
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
      ...(serverName === undefined ? {} : { servername: serverName }),
    },
    dial,
  );
  return { ...base, agent };
}

/** Go's limit (net/http, defaultCheckRedirect). */
const MAX_REQUESTS = 10;

/**
 * Follows redirects that repeat the POST, as Go's client does (net/http, redirectBehavior). Those that the connection cannot
 * follow are answers.
 */
async function exchangeToTheEnd(connection: Connection, body: Buffer, options: PostOptions): Promise<Answer> {
  const endMs = performance.now() + options.timeoutMs;
  const url = new URL(connection.url);
  if (options.query !== undefined) url.search = options.query;
  let next: Connection = { ...connection, url };
  for (let requests = 1; ; requests += 1) {
    const { location, ...answer } = await exchangeFreshly(next, body, { ...options, endMs });
    const redirected = redirect(next, location);
    if (redirected === undefined) return answer;
    if (requests === MAX_REQUESTS) throw new Error(`stopped after ${MAX_REQUESTS} redirects`);
    next = redirected;
  }
}

/** The credentials are for one host, so another gets none. Undefined: the redirect, if there is one, is not followed. */
function redirect(connection: Connection, location: string | undefined): Connection | undefined {
  const { url: from, reachesOthers, authorization } = connection;
  const url = location === undefined ? null : URL.parse(location, from.href);
  if (url === null || url.protocol !== from.protocol) return undefined;
  if (url.host !== from.host && !reachesOthers) return undefined;
  return { ...connection, url, authorization: url.host === from.host ? authorization : undefined };
}

/** The server ended an idle connection just as it was used again; the request itself did not fail. */
class StaleConnection extends Error {}

interface ExchangeOptions extends PostOptions {
  /** When the time is up, by performance.now. */
  readonly endMs: number;
}

interface Exchanged extends Answer {
  /** Where a 307 or 308 leads. */
  readonly location: string | undefined;
}

async function exchangeFreshly(
  connection: Connection,
  body: Buffer,
  options: ExchangeOptions,
): Promise<Exchanged> {
  for (;;) {
    try {
      return await exchange(connection, body, options);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
    }
  }
}

const isReset = ({ code = '' }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

function exchange(
  { url, authorization, agent }: Connection,
  body: Buffer,
  options: ExchangeOptions,
): Promise<Exchanged> {
  const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
  return new Promise((resolve, reject) => {
    const request: ClientRequest = send(url, {
      method: 'POST',
      agent,
      signal: options.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'content-length': body.length,
        'user-agent': 'pg-apiserver',
        ...(authorization === undefined ? {} : { authorization }),
        ...(options.traceparent === undefined ? {} : { traceparent: options.traceparent }),
      },
    });
    const leftMs = Math.max(0, options.endMs - performance.now());
    const timer = setTimeout(() => request.destroy(new AnswerTimeout(options.timeoutMs)), leftMs);
    request.once('close', () => clearTimeout(timer));
    request.once('response', (response) => readAnswer(request, response, options).then(resolve, reject));
    // The listener stays, because the connection may break after its answer, which is no failure.
    request.on('error', (error) =>
      reject(request.reusedSocket && isReset(error) ? new StaleConnection(error.message) : error),
    );
    request.end(body);
  });
}

/** Codes of redirects that repeat the request. */
const REPEATED: ReadonlySet<number> = new Set([307, 308]);

function readAnswer(
  request: ClientRequest,
  response: IncomingMessage,
  { maxAnswerBytes }: PostOptions,
): Promise<Exchanged> {
  const code = response.statusCode ?? 0;
  const location = REPEATED.has(code) ? response.headers.location : undefined;
  const contentType = response.headers['content-type'] ?? '';
  const most = maxAnswerBytes === 0 ? MAX_IDLE_BYTES : maxAnswerBytes;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= most) {
        if (maxAnswerBytes > 0) chunks.push(chunk);
        return;
      }
      reject(new Error(`the answer is longer than ${most} bytes`));
      request.destroy();
    });
    response.on('error', reject);
    response.once('end', () => resolve({ code, body: Buffer.concat(chunks), contentType, location }));
    if (maxAnswerBytes === 0) resolve({ code, body: Buffer.alloc(0), contentType, location });
  });
}
