/** Samples of one label set, counted where they come in. */
export interface HistogramState {
  /** Upper bounds, rising; what is above the last one is counted by `count` alone. */
  readonly bounds: readonly number[];
  /** Not cumulative; one more than there are bounds. */
  readonly counts: Float64Array;
  readonly sum: number;
}

function indexOf(bounds: readonly number[], value: number): number {
  let at = 0;
  while (at < bounds.length && value > (bounds[at] ?? 0)) at += 1;
  return at;
}

/** Plain numbers: an observation costs 10 ns, prom-client's own 500, and flow control makes several a request. */
export class Tally implements HistogramState {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const at = indexOf(this.bounds, value);
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
  }
}

const NS_PER_MS = 1_000_000;

/**
 * A quantity over time, as if it were observed at the end of every nanosecond: each value counts for as long as it was the
 * value. What it is a part of may change, too.
 */
export class TimedTally implements HistogramState {
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  sum = 0;
  #value = 0;
  #denominator = 1;
  #since: number | undefined;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** `now` in milliseconds. */
  set(now: number, value: number): void {
    this.settle(now);
    this.#value = value;
  }

  setDenominator(denominator: number): void {
    this.#denominator = Math.max(denominator, 1);
  }

  /** Counts the time until now. */
  settle(now: number): void {
    const ns = Math.round((now - (this.#since ?? now)) * NS_PER_MS);
    this.#since = now;
    if (ns <= 0) return;
    const ratio = this.#value / this.#denominator;
    const at = indexOf(this.bounds, ratio);
    this.counts[at] = (this.counts[at] ?? 0) + ns;
    this.sum += ratio * ns;
  }
}
