import type { Metric, Registry } from 'prom-client';
import type { HistogramState } from './histogram.ts';

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
  /** Asked at each scrape. */
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
  // A registry asks of its metrics nothing but this; the type lists the library's own four classes.
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
