import type { DemandSummary } from '../queueing/demand.ts';

/** How slowly a wish for seats is forgotten: of a peak, half is left after five minutes of adjustments every ten seconds. */
const SMOOTHING = 0.977;

/** What a level has needed. Rises at once, sinks slowly. */
export class DemandStatistics {
  average = 0;
  deviation = 0;
  highWatermark = 0;
  smoothed = 0;

  update({ durationMs, average, deviation, highest }: DemandSummary): void {
    this.highWatermark = Math.round(highest);
    if (durationMs <= 0) return;
    this.average = average;
    this.deviation = deviation;
    const envelope = average + deviation;
    this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
  }
}
