import type { DispatchProgress } from '../../observability/flow-control/flow-tallies.ts';
import type { FlowRequest } from '../flow-control.ts';
import type { FlowRecorder } from '../flow-recorder.ts';
import { seatsOf, type Work } from '../request-cost.ts';

/** The facts about a request that a queue needs. Times are virtual, work is in seat-seconds. */
interface QueueItem {
  readonly virtualArrival: number;
  readonly totalWork: number;
}

/** One queue of a level: its waiting requests in the order of arrival, and its running ones. */
export class FlowQueue<Item extends QueueItem> {
  readonly index: number;
  /** In the order of arrival. A set, so that a request that gives up is removed without a search. */
  readonly waiting = new Set<Item>();
  readonly executing = new Set<Item>();
  /** The virtual time at which the queue's next request would start if all queues got an even share. */
  nextStart = 0;
  /** Includes seats that are held for a while after their request. */
  seatsInUse = 0;
  /** Work of the waiting requests, in seat-seconds. */
  waitingWork = 0;

  constructor(index: number) {
    this.index = index;
  }

  get isActive(): boolean {
    return this.waiting.size > 0 || this.executing.size > 0;
  }

  get isEmpty(): boolean {
    return !this.isActive && this.seatsInUse === 0;
  }

  get oldest(): Item | undefined {
    for (const item of this.waiting) return item;
    return undefined;
  }

  enqueue(item: Item): void {
    this.waiting.add(item);
    this.waitingWork += item.totalWork;
  }

  /** False when the item was no longer waiting. */
  dequeue(item: Item): boolean {
    if (!this.waiting.delete(item)) return false;
    this.waitingWork = this.waiting.size === 0 ? 0 : this.waitingWork - item.totalWork;
    return true;
  }

  /**
   * No request starts before it arrived: otherwise a queue that was nearly empty could later use the time that it did not need
   * before.
   */
  boundNextStart(): void {
    const oldest = this.oldest;
    if (oldest !== undefined && this.nextStart < oldest.virtualArrival)
      this.nextStart = oldest.virtualArrival;
  }
}

/** The assumed duration of a request until its real one is known. */
export const ESTIMATED_SERVICE_MS = 3;

/** A request as it arrives at a level. */
export interface Arrival {
  readonly schema: string;
  /** The key of its flow within the schema. */
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
  /** Undefined for a request that passed no queue. */
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

  /** Resolves with whether the request may run. To be called once, and only while it waits. */
  decision(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#decided = resolve;
    });
  }

  /** Narrows the final seats of a request to those of its level; the final phase then lasts longer. */
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

interface Selection {
  readonly queue: FlowQueue<Ticket>;
  readonly ticket: Ticket;
  readonly bounds: StartBounds;
}

/**
 * The request with the least virtual finish. Among equals, the one whose queue comes first after the queue served last, so that
 * queues that started together take turns. `pending` are the queues with waiting requests, of `count` queues in all.
 */
export function selectNext(
  pending: Iterable<FlowQueue<Ticket>>,
  lastServed: number,
  count: number,
): Selection | undefined {
  const bounds = new StartBounds();
  let queue: FlowQueue<Ticket> | undefined;
  let ticket: Ticket | undefined;
  let leastFinish = Number.POSITIVE_INFINITY;
  for (const candidate of pending) {
    const { oldest } = candidate;
    if (oldest === undefined) continue;
    bounds.note(candidate);
    const finish = candidate.nextStart + oldest.totalWork;
    if (finish > leastFinish) continue;
    if (finish === leastFinish && queue !== undefined && !isSooner(candidate, queue, lastServed, count))
      continue;
    queue = candidate;
    ticket = oldest;
    leastFinish = finish;
  }
  return queue === undefined || ticket === undefined ? undefined : { queue, ticket, bounds };
}

/** Whether `a` comes before `b` in the round that goes on after `lastServed`. */
function isSooner(a: FlowQueue<Ticket>, b: FlowQueue<Ticket>, lastServed: number, count: number): boolean {
  const distance = ({ index }: FlowQueue<Ticket>): number => (index - lastServed - 1 + count) % count;
  return distance(a) < distance(b);
}

/** The range of virtual starts over the visited queues, which shows how far the flows are apart. */
class StartBounds {
  #least = Number.POSITIVE_INFINITY;
  #most = 0;
  #leastDiscounted = Number.POSITIVE_INFINITY;
  #mostDiscounted = 0;

  note({ nextStart, seatsInUse }: FlowQueue<Ticket>): void {
    const discounted = nextStart - (seatsInUse * ESTIMATED_SERVICE_MS) / 1000;
    if (nextStart < this.#least) this.#least = nextStart;
    if (nextStart > this.#most) this.#most = nextStart;
    if (discounted < this.#leastDiscounted) this.#leastDiscounted = discounted;
    if (discounted > this.#mostDiscounted) this.#mostDiscounted = discounted;
  }

  toProgress(now: number, start: number): DispatchProgress {
    return {
      now,
      start,
      least: this.#least,
      most: this.#most,
      leastDiscounted: this.#leastDiscounted,
      mostDiscounted: this.#mostDiscounted,
    };
  }
}
