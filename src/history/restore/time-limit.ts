import type { ApiRequest, Caller } from '../../request/api-request.ts';
import { chooseTimeout } from '../../request/timeout.ts';

/** The share of a request's time reserved for its answer. */
const SHARE_FOR_ANSWER = 0.1;
const MOST_FOR_ANSWER_MS = 2000;

type TimedRequest = Caller & Pick<ApiRequest, 'query' | 'receivedAt'>;

/**
 * Ends before the request's time is up, so that the answer can list what was done and what was not. Also ends when the
 * client disconnects.
 */
export class TimeLimit implements Caller {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #request: TimedRequest;
  readonly #abort = (): void => this.#controller.abort();

  constructor(request: TimedRequest, longestMs: number) {
    const totalMs = chooseTimeout(request, longestMs);
    const spentMs = Date.now() - request.receivedAt.getTime();
    const leftMs = totalMs - spentMs - Math.min(totalMs * SHARE_FOR_ANSWER, MOST_FOR_ANSWER_MS);
    this.#timer = setTimeout(this.#abort, Math.max(leftMs, 0));
    this.#request = request;
    if (request.aborted) this.#abort();
    else request.signal.addEventListener('abort', this.#abort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  /** Resolves with `work`, or when the time is up. */
  async until(work: Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const over = (): void => resolve();
    if (this.aborted) over();
    else this.signal.addEventListener('abort', over, { once: true });
    await Promise.race([work, promise]);
  }

  /** Stops the timer and the listener. */
  end(): void {
    clearTimeout(this.#timer);
    this.#request.signal.removeEventListener('abort', this.#abort);
  }
}
