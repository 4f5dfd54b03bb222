import { Tally } from '../tallies.ts';

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
