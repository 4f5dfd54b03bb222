/**
 * A bucket of tokens: `perSecond` of them come in, `burst` fit in. Who takes one that is not there yet is told how long to
 * wait for it, and must, because it is theirs from then on.
 */
export class Throttle {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  constructor({ perSecond, burst, now }: { perSecond: number; burst: number; now: () => number }) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#now = now;
    this.#tokens = burst;
    this.#at = now();
  }

  /** Milliseconds until the token may be used. */
  take(): number {
    const now = this.#now();
    this.#tokens = Math.min(this.#tokens + (now - this.#at) * this.#perMs, this.#burst) - 1;
    this.#at = now;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }
}
