/**
 * So many at once as there are tokens in the bucket, which fills up again with so many a second (Go: x/time/rate).
 *
 *   const bucket = new TokenBucket({ perSecond: 1, burst: 2, nowMs: 0 });
 *   bucket.take(0) && bucket.take(0)  // true
 *   bucket.take(500)                  // false
 *   bucket.take(1000)                 // true
 */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #atMs: number;

  constructor({ perSecond, burst, nowMs }: { perSecond: number; burst: number; nowMs: number }) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#atMs = nowMs;
  }

  /** False when there is none. Times never go back. */
  take(nowMs: number): boolean {
    const refilled = ((nowMs - this.#atMs) / 1000) * this.#perSecond;
    this.#tokens = Math.min(this.#burst, this.#tokens + refilled);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
