/** What a list of times says, in the unit the times are in. */
export interface Summary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The nearest-rank percentile: the smallest value that at least `share` of all values do not exceed. NaN for none. */
export function percentile(sorted: Float64Array, share: number): number {
  const rank = Math.max(1, Math.ceil(sorted.length * share));
  return sorted[rank - 1] ?? Number.NaN;
}

export function summarize(values: readonly number[]): Summary {
  const sorted = Float64Array.from(values).sort();
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), max: percentile(sorted, 1) };
}
