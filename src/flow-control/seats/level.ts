import type { LevelLimits } from '../../observability/flow-control/level-tallies.ts';
import type { PriorityLevel } from '../config/priority-level.ts';
import type { FlowClock } from '../flow-control.ts';
import type { FlowMetrics, LevelRecorder } from '../metrics.ts';
import { DemandIntegral, type DemandSummary } from '../queueing/demand.ts';
import { type QueueingPolicy, QueueSet } from '../queueing/queue-set.ts';
import { MAX_SEATS } from '../request-cost.ts';

/** A priority level at work: its configuration, its queues, and its current seats. */
export class Level {
  readonly queues: QueueSet;
  readonly demand: DemandIntegral;
  readonly statistics = new DemandStatistics();
  readonly recorder: LevelRecorder;
  config: PriorityLevel;
  limits: LevelLimits = { nominal: 0, minimum: 0, maximum: 0 };
  /** From the last adjustment. */
  seats = 0;
  /** The most that one request may take. */
  widest = MAX_SEATS;
  /** Its object was deleted; the level is removed when its last request has ended. */
  retired = false;

  constructor(config: PriorityLevel, clock: FlowClock, metrics: FlowMetrics) {
    this.config = config;
    this.recorder = metrics.level(config.name);
    this.demand = new DemandIntegral(clock.now());
    this.queues = new QueueSet({ clock, demand: this.demand, recorder: this.recorder });
  }

  get policy(): QueueingPolicy {
    if (this.config.exempt) return 'unlimited';
    return this.config.queuing ?? 'refuse';
  }

  /** `denominator`: usage is measured against it when the level has no seats. */
  setSeats(seats: number, denominator: number): void {
    this.seats = seats;
    this.queues.configure(this.policy, seats);
    const { queuing } = this.config;
    const waiting = queuing === undefined ? 1 : queuing.queues * queuing.queueLengthLimit;
    this.recorder.capacity(waiting, seats > 0 ? seats : denominator);
  }
}

/** How slowly demand decays: half of a peak is left after five minutes of adjustments every ten seconds. */
const SMOOTHING = 0.977;

/** The demand of a level. Rises at once, falls slowly. */
class DemandStatistics {
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
