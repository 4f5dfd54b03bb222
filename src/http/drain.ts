import { isLongRunning } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Probes and scrapers are answered to the end, as in Kubernetes. */
const EXEMPT = ['/readyz', '/livez', '/healthz', '/metrics'];

export interface DrainPlan {
  /** --shutdown-send-retry-after: go on listening, and answer 429 until nothing is under way. */
  readonly sendRetryAfter: boolean;
  /** --shutdown-watch-termination-grace-period; 0 ends all watches at once. */
  readonly watchGraceMs: number;
  /** How long requests under way may still take. */
  readonly requestGraceMs: number;
}

/** Watches end at least this fast, however long the grace period is. */
const MIN_WATCHES_PER_SECOND = 200;
const POLL_MS = 10;

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
    const deadline = Date.now() + graceMs;
    while (this.#open.size > 0 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }

  /** Ends watches one after the other, spread over the grace period, so that they do not all come back at once. */
  async endLongRunning(graceMs: number): Promise<void> {
    const all = [...this.#long];
    const seconds = Math.max(graceMs / 1000, 0.001);
    const perSecond = Math.max(all.length / seconds, MIN_WATCHES_PER_SECOND);
    const begun = Date.now();
    for (const [at, request] of all.entries()) {
      const dueMs = graceMs === 0 ? 0 : (at / perSecond) * 1000 - (Date.now() - begun);
      if (dueMs > 1) await new Promise((resolve) => setTimeout(resolve, dueMs));
      request.abort();
    }
    const deadline = begun + Math.max(graceMs, 1000);
    while (this.#long.size > 0 && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
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
