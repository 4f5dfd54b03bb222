import type { ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isLongRunning } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { pause } from '../util/pause.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** As long as Go's clients keep an idle connection. */
export const IDLE_MS = 90_000;

/** The sockets and HTTP/2 sessions of a listener. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();

  addSocket(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
  }

  addSession(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    let streams = 0;
    session.on('stream', (stream) => {
      streams += 1;
      stream.once('close', () => {
        streams -= 1;
      });
    });
    // A quiet session is idle only when it has no open stream: watches may be quiet for long.
    session.setTimeout(IDLE_MS, () => {
      if (streams === 0) session.close();
    });
    session.once('close', () => this.#sessions.delete(session));
  }

  /** Resolves when no connection is left, or time is up. */
  async emptied(withinMs: number): Promise<void> {
    await untilEmpty(this.#sockets, Date.now() + withinMs);
  }

  /** Asks HTTP/2 clients to go elsewhere with their next request. */
  goAway(): void {
    for (const session of this.#sessions) if (!session.closed) session.close();
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

const ANSWERS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Refuses invalid HTTP/1.1 input, where the connection still allows an answer, and closes the connection. Further input is not
 * read, which prevents request smuggling between two parsers that disagree about the end of a request.
 */
export function refuseBrokenInput(error: Error & { code?: string }, socket: Duplex): void {
  if (socket.writable && !isReset(error)) {
    const status = ANSWERS[error.code ?? ''] ?? '400 Bad Request';
    socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: text/plain\r\n\r\n${status}\n`);
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

/** Time for the answer to arrive, before more input from the peer causes a reset. */
const LINGER_MS = 500;

const isReset = ({ code }: { code?: string }): boolean => code === 'ECONNRESET' || code === 'EPIPE';

/** Probes and scrapers are answered to the end, as in Kubernetes. */
const EXEMPT = ['/readyz', '/livez', '/healthz', '/metrics'];

export interface DrainPlan {
  /** --shutdown-send-retry-after: keeps listening, and answers 429 until no request is active. */
  readonly sendRetryAfter: boolean;
  /** --shutdown-watch-termination-grace-period; 0 ends all watches at once. */
  readonly watchGraceMs: number;
  /** How long requests under way may still take. */
  readonly requestGraceMs: number;
}

/** Watches end at least this fast, however long the grace period is. */
const MIN_WATCHES_PER_SECOND = 200;

/** The requests under way, and their orderly end. */
export class OpenRequests {
  readonly #open = new Set<IncomingRequest>();
  readonly #long = new Set<IncomingRequest>();
  #refusal: ApiResponse | undefined;

  begin(request: IncomingRequest): void {
    (isLongRunning(request) ? this.#long : this.#open).add(request);
  }

  end(request: IncomingRequest): void {
    this.#open.delete(request);
    this.#long.delete(request);
  }

  /** The answer to a new request while the server ends; undefined: the request is served. */
  refusalOf({ path }: IncomingRequest): ApiResponse | undefined {
    if (this.#refusal === undefined) return undefined;
    return EXEMPT.some((prefix) => path.startsWith(prefix)) ? undefined : this.#refusal;
  }

  refuse(sendRetryAfter: boolean): void {
    this.#refusal = sendRetryAfter
      ? retryLater(429, 'The apiserver is shutting down, please try again later.', 5)
      : retryLater(503, 'apiserver is shutting down.', 1);
  }

  /** Resolves when no request but long-running ones is left, or time is up. */
  async drained(graceMs: number): Promise<void> {
    await untilEmpty(this.#open, Date.now() + graceMs);
  }

  /** Ends watches one after the other, spread over the grace period, so that they do not all come back at once. */
  async endLongRunning(graceMs: number): Promise<void> {
    const all = [...this.#long];
    const seconds = Math.max(graceMs / 1000, 0.001);
    const perSecond = Math.max(all.length / seconds, MIN_WATCHES_PER_SECOND);
    const begun = Date.now();
    for (const [at, request] of all.entries()) {
      const dueMs = graceMs === 0 ? 0 : (at / perSecond) * 1000 - (Date.now() - begun);
      if (dueMs > 1) await pause(dueMs);
      request.abort();
    }
    await untilEmpty(this.#long, begun + Math.max(graceMs, 1000));
  }
}

const POLL_MS = 10;

/** Resolves when nothing is left, or at the deadline, in epoch milliseconds. */
async function untilEmpty(left: ReadonlySet<unknown>, deadlineMs: number): Promise<void> {
  while (left.size > 0 && Date.now() < deadlineMs) await pause(POLL_MS);
}

/** Answers about overload and shutdown are plain text, because they must cost nothing. */
export function retryLater(code: number, message: string, seconds: number): ApiResponse {
  return {
    kind: 'bytes',
    code,
    contentType: 'text/plain; charset=utf-8',
    headers: { 'retry-after': String(seconds), 'x-content-type-options': 'nosniff' },
    chunks: [Buffer.from(`${message}\n`)],
    compressible: false,
  };
}
