import type { Metric, Registry } from 'prom-client';

export type Labels = Readonly<Record<string, string>>;

interface Value {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export interface FamilyInit {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Called at each scrape. */
  values(): Iterable<Value>;
}

/** Exposes numbers that are kept elsewhere. */
export function registerFamily(registry: Registry, { name, help, type, values }: FamilyInit): void {
  const family = {
    name,
    help,
    type,
    aggregator: 'sum',
    get: () => Promise.resolve({ name, help, type, aggregator: 'sum', values: [...values()] }),
    reset: () => {},
  };
  // A registry uses only these parts of its metrics; its type lists the library's own four classes.
  registry.registerMetric(family as unknown as Metric);
}

/** The lines of one histogram: cumulative buckets, sum, count. */
export function* histogramValues(
  name: string,
  labels: Labels,
  { bounds, counts, sum }: HistogramState,
): Generator<Value> {
  let count = 0;
  for (const [at, bound] of bounds.entries()) {
    count += counts[at] ?? 0;
    yield { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: count };
  }
  count += counts[bounds.length] ?? 0;
  yield { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count };
  yield { metricName: `${name}_sum`, labels, value: sum };
  yield { metricName: `${name}_count`, labels, value: count };
}

/** A histogram of one label set. */
export interface HistogramState {
  /** Upper bounds, rising; samples above the last one count in `count` alone. */
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

/** Plain numbers: an observation costs 10 ns, prom-client's 500 ns, and flow control makes several for each request. */
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
 * A quantity over time, as if it were observed at the end of every nanosecond: each value counts for as long as it lasts. The
 * total that the quantity is a part of may change, too.
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
