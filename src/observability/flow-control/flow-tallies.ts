import { Tally, TimedTally } from '../tallies.ts';

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

const SECONDS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];
const LENGTHS = [0, 10, 25, 50, 100, 250, 500, 1000];
const SEATS = [1, 2, 4, 10];
const WATCHES = [0, 1, 10, 100, 1000, 10_000];

/** Counts the requests of one flow schema at one priority level. */
export class FlowTallies {
  readonly labels: { readonly priority_level: string; readonly flow_schema: string };
  readonly rejections = new Map<string, number>();
  readonly queueLength = new Tally(LENGTHS);
  readonly estimatedSeats = new Tally(SEATS);
  readonly watchCount = new Tally(WATCHES);
  readonly waits = { true: new Tally(SECONDS), false: new Tally(SECONDS) };
  readonly executions = { regular: new Tally(SECONDS), watch: new Tally(SECONDS) };
  requestsInQueues = 0;
  seatsInQueues = 0;
  requestsExecuting = 0;
  seatsExecuting = 0;
  dispatches = 0;
  unaccommodated = 0;

  constructor(level: string, schema: string) {
    this.labels = { priority_level: level, flow_schema: schema };
  }

  estimated(seats: number): void {
    this.estimatedSeats.observe(seats);
  }

  enqueued(seats: number, queueLength: number): void {
    this.requestsInQueues += 1;
    this.seatsInQueues += seats;
    this.queueLength.observe(queueLength);
  }

  dequeued(seats: number): void {
    this.requestsInQueues -= 1;
    this.seatsInQueues -= seats;
  }

  started(seats: number): void {
    this.requestsExecuting += 1;
    this.seatsExecuting += seats;
  }

  finished(): void {
    this.requestsExecuting -= 1;
  }

  released(seats: number): void {
    this.seatsExecuting -= seats;
  }

  dispatched(): void {
    this.dispatches += 1;
  }

  rejected(reason: string): void {
    this.rejections.set(reason, (this.rejections.get(reason) ?? 0) + 1);
  }

  waited(ms: number, executed: boolean): void {
    (executed ? this.waits.true : this.waits.false).observe(ms / 1000);
  }

  executed(ms: number, kind: 'regular' | 'watch'): void {
    this.executions[kind].observe(ms / 1000);
  }

  watchers(count: number): void {
    this.watchCount.observe(count);
  }

  noAccommodation(): void {
    this.unaccommodated += 1;
  }
}
