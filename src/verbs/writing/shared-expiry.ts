/** etcd's limit of objects per lease. */
const MOST_OBJECTS = 1000;
/** The largest share of its time to live by which an object may live longer, to end together with others. */
const MOST_OF_TTL = 0.05;

/**
 * When objects with a limited life end. Those written within the reuse time of each other share a moment, as objects in etcd
 * share a lease, and end in one batch: each lives for its time, plus the reuse time at most.
 */
export class SharedExpiry {
  readonly #ttlMs: number;
  readonly #reuseMs: number;
  #shared = { atMs: 0, objects: 0 };

  /** `reuseMs`: --lease-reuse-duration-seconds; limited to 5% of the time to live. */
  constructor({ ttlMs, reuseMs }: { readonly ttlMs: number; readonly reuseMs: number }) {
    this.#ttlMs = ttlMs;
    this.#reuseMs = Math.min(reuseMs, ttlMs * MOST_OF_TTL);
  }

  /** The end of an object that is written now. */
  next(nowMs: number): Date {
    const { atMs, objects } = this.#shared;
    const leastMs = nowMs + this.#ttlMs;
    // After a clock was set back, the shared moment may be too far away.
    const isInReach = leastMs < atMs && atMs < leastMs + this.#reuseMs;
    this.#shared =
      isInReach && objects < MOST_OBJECTS
        ? { atMs, objects: objects + 1 }
        : { atMs: leastMs + this.#reuseMs, objects: 1 };
    return new Date(this.#shared.atMs);
  }
}
