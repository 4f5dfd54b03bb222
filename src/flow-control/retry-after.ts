/** The longest time that a caller is told to wait. */
const MAX_SECONDS = 32;

/**
 * The Retry-After of refused callers: doubles each time many are refused, and shrinks by a second for each second in which few
 * are (Kubernetes: dropped requests tracker; the model is TCP).
 */
export class RetryAfter {
  readonly #now: () => number;
  readonly #levels = new Map<string, RefusedOfLevel>();

  /** `now` in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts a refusal, and returns its Retry-After in seconds. */
  refuse(level: string): number {
    let refused = this.#levels.get(level);
    if (refused === undefined) {
      refused = new RefusedOfLevel();
      this.#levels.set(level, refused);
    }
    return refused.refuse(Math.floor(this.#now() / 1000));
  }
}

class RefusedOfLevel {
  #history: { readonly second: number; readonly count: number }[] = [];
  #second = Number.NEGATIVE_INFINITY;
  #count = 0;
  #seconds = 1;
  #raisedAt = Number.NEGATIVE_INFINITY;

  refuse(second: number): number {
    if (second === this.#second) {
      this.#count += 1;
      return this.#seconds;
    }
    const oldest = this.#second - Math.min(2 * this.#seconds, MAX_SECONDS);
    this.#history = this.#history.filter((past) => past.second >= oldest);
    if (this.#count > 0) this.#history.push({ second: this.#second, count: this.#count });
    this.#second = second;
    this.#count = 1;
    this.#reconsider(second);
    return this.#seconds;
  }

  #reconsider(second: number): void {
    const recent = this.#history
      .filter((past) => second - past.second <= this.#seconds)
      .reduce((sum, { count }) => sum + count, 0);
    if (second - this.#raisedAt >= this.#seconds && recent >= 3 * this.#seconds) {
      this.#seconds = Math.min(this.#seconds * 2, MAX_SECONDS);
      this.#raisedAt = second;
    } else if (recent < this.#seconds && this.#seconds > 1) this.#seconds -= 1;
  }
}
