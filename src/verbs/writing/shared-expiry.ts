/** As many as etcd attaches to one lease. */
const MOST_OBJECTS = 1000;
/** How much longer than its time an object may live at most, to end together with others. */
const MOST_OF_TTL = 0.05;

/**
 * When objects with a limited life end. Those that are written within the reuse time of each other share a moment, as objects in
 * etcd share a lease, and then end in one batch: each lives for its time, and for the reuse time longer at most.
 */
export class SharedExpiry {
  readonly #ttlMs: number;
  readonly #reuseMs: number;
  #shared = { atMs: 0, objects: 0 };

  /** `reuseMs`: --lease-reuse-duration-seconds; what is more than 5% of the time is left out. */
  constructor({ ttlMs, reuseMs }: { readonly ttlMs: number; readonly reuseMs: number }) {
    this.#ttlMs = ttlMs;
    this.#reuseMs = Math.min(reuseMs, ttlMs * MOST_OF_TTL);
  }

  /** For an object that is written now. */
  next(nowMs: number): Date {
    const { atMs, objects } = this.#shared;
    const leastMs = nowMs + this.#ttlMs;
    // A clock that was set back has moments before it that are too far away.
    const isInReach = leastMs < atMs && atMs < leastMs + this.#reuseMs;
    this.#shared =
      isInReach && objects < MOST_OBJECTS
        ? { atMs, objects: objects + 1 }
        : { atMs: leastMs + this.#reuseMs, objects: 1 };
    return new Date(this.#shared.atMs);
  }
}
