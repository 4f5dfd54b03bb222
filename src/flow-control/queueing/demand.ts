/** Statistics of a quantity over some time. */
export interface DemandSummary {
  readonly durationMs: number;
  /** Weighted by time; NaN when no time has passed. */
  readonly average: number;
  readonly deviation: number;
  readonly highest: number;
}

/** Integrates the number of seats that a level could have used over time. */
export class DemandIntegral {
  #value = 0;
  #since: number;
  #durationMs = 0;
  #sum = 0;
  #squares = 0;
  #highest = 0;

  constructor(now: number) {
    this.#since = now;
  }

  set(now: number, value: number): void {
    this.#advance(now);
    this.#value = value;
    if (value > this.#highest) this.#highest = value;
  }

  /** Returns the statistics since the last call. */
  reset(now: number): DemandSummary {
    this.#advance(now);
    const average = this.#sum / this.#durationMs;
    const variance = this.#squares / this.#durationMs - average * average;
    const summary = {
      durationMs: this.#durationMs,
      average,
      // Rounding may make the variance of a constant negative.
      deviation: Math.sqrt(Math.max(variance, 0)),
      highest: this.#highest,
    };
    this.#durationMs = 0;
    this.#sum = 0;
    this.#squares = 0;
    this.#highest = this.#value;
    return summary;
  }

  #advance(now: number): void {
    const ms = now - this.#since;
    this.#since = now;
    this.#durationMs += ms;
    this.#sum += this.#value * ms;
    this.#squares += this.#value * this.#value * ms;
  }
}
