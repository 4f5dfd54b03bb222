import type { FlowRequest } from '../flow-control.ts';
import type { FlowRecorder } from '../metrics.ts';
import { seatsOf, type Work } from '../work/work.ts';
import type { FlowQueue, QueueItem } from './queue.ts';

/** Requests are taken to run this long until they have shown how long they do. */
export const ESTIMATED_SERVICE_MS = 3;

/** A request as it arrives at a level. */
export interface Arrival {
  readonly schema: string;
  /** What tells its flow from others of the schema. */
  readonly distinguisher: string;
  readonly work: Work;
  readonly request: FlowRequest;
  readonly recorder: FlowRecorder;
}

/** A request that a level has taken in. Times are in milliseconds, virtual times and work in seat-seconds. */
export class Ticket implements QueueItem {
  readonly arrival: Arrival;
  readonly arrivedAt: number;
  readonly virtualArrival: number;
  /** Undefined: it did not pass a queue. */
  readonly queue: FlowQueue<Ticket> | undefined;
  readonly seats: number;
  readonly totalWork: number;
  readonly #finalWork: number;
  finalSeats: number;
  extraMs: number;
  startedAt: number | undefined;
  state: 'waiting' | 'executing' | 'finished' | 'rejected' = 'waiting';
  #decided: ((admitted: boolean) => void) | undefined;

  constructor(arrival: Arrival, now: number, virtualNow: number, queue: FlowQueue<Ticket> | undefined) {
    const { work } = arrival;
    this.arrival = arrival;
    this.arrivedAt = now;
    this.virtualArrival = virtualNow;
    this.queue = queue;
    this.seats = seatsOf(work);
    this.finalSeats = work.finalSeats;
    this.extraMs = work.extraMs;
    this.#finalWork = (work.finalSeats * work.extraMs) / 1000;
    this.totalWork = (work.initialSeats * ESTIMATED_SERVICE_MS) / 1000 + this.#finalWork;
  }

  /** Resolves with whether the request may run. To be asked for once, and only while it waits. */
  decision(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#decided = resolve;
    });
  }

  /** A level may have fewer seats than the end of a request wants; then that end takes longer. */
  narrowTo(seats: number): void {
    if (this.finalSeats <= seats) return;
    this.finalSeats = seats;
    this.extraMs = (this.#finalWork / seats) * 1000;
  }

  execute(now: number): void {
    this.startedAt = now;
    this.state = 'executing';
    this.#decided?.(true);
  }

  reject(): void {
    this.state = 'rejected';
    this.#decided?.(false);
  }
}
