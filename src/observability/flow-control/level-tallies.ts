import { TimedTally } from '../tallies.ts';

/** Facts that flow control reports about one priority level. */

export interface LevelUsage {
  readonly waiting: number;
  readonly executing: number;
  readonly seatsInUse: number;
  readonly seatsWaiting: number;
}

/** Seats that a level has by its configuration. */
export interface LevelLimits {
  readonly nominal: number;
  readonly minimum: number;
  readonly maximum: number;
}

/** The input and the result of the periodic adjustment. */
export interface LevelAdjustment {
  readonly highWatermark: number;
  readonly average: number;
  readonly deviation: number;
  readonly smoothed: number;
  readonly target: number;
  readonly limit: number;
}

/** Virtual times at a dispatch, in seat-seconds. The bounds are over the queues with waiting requests. */
export interface DispatchProgress {
  readonly now: number;
  readonly start: number;
  readonly least: number;
  readonly most: number;
  readonly leastDiscounted: number;
  readonly mostDiscounted: number;
}

const SEAT_PARTS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
const REQUEST_PARTS = [0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1];
const DEMANDS = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.7, 2, 2.8, 4, 6];

/** How busy one priority level is, and how many seats it has. */
export class LevelTallies {
  readonly labels: { readonly priority_level: string };
  readonly seatUtilization = new TimedTally(SEAT_PARTS);
  readonly waitingUtilization = new TimedTally(REQUEST_PARTS);
  readonly executingUtilization = new TimedTally(REQUEST_PARTS);
  readonly demand = new TimedTally(DEMANDS);
  virtualTime = 0;
  lastDispatch: DispatchProgress | undefined;
  limit: LevelLimits = { nominal: 0, minimum: 0, maximum: 0 };
  adjustment: LevelAdjustment = {
    highWatermark: 0,
    average: 0,
    deviation: 0,
    smoothed: 0,
    target: 0,
    limit: 0,
  };

  constructor(level: string) {
    this.labels = { priority_level: level };
  }

  progress(virtualTime: number): void {
    this.virtualTime = virtualTime;
  }

  dispatch(progress: DispatchProgress): void {
    this.lastDispatch = progress;
  }

  usage(now: number, { waiting, executing, seatsInUse, seatsWaiting }: LevelUsage): void {
    this.seatUtilization.set(now, seatsInUse);
    this.waitingUtilization.set(now, waiting);
    this.executingUtilization.set(now, executing);
    this.demand.set(now, seatsInUse + seatsWaiting);
  }

  capacity(waiting: number, executing: number): void {
    this.waitingUtilization.setDenominator(waiting);
    this.executingUtilization.setDenominator(executing);
    this.seatUtilization.setDenominator(executing);
    this.demand.setDenominator(executing);
  }

  limits(limits: LevelLimits): void {
    this.limit = limits;
  }

  adjusted(adjustment: LevelAdjustment): void {
    this.adjustment = adjustment;
  }

  /** Counts the time since the last change, for a scrape. */
  settle(now: number): void {
    for (const tally of [
      this.seatUtilization,
      this.waitingUtilization,
      this.executingUtilization,
      this.demand,
    ])
      tally.settle(now);
  }
}
