import type { Ticket } from './ticket.ts';

/** One queue of a level: who waits in the order of arrival, and who of it runs. */
export class FlowQueue {
  readonly index: number;
  /** In the order of arrival. A set, so that whoever gives up leaves without a search. */
  readonly waiting = new Set<Ticket>();
  readonly executing = new Set<Ticket>();
  /** The virtual time at which the queue's next request would start if all queues got their even share. */
  nextStart = 0;
  /** Includes seats that are kept for a while after their request. */
  seatsInUse = 0;
  /** Sum of what waits, in seat-seconds. */
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

  get oldest(): Ticket | undefined {
    for (const ticket of this.waiting) return ticket;
    return undefined;
  }

  enqueue(ticket: Ticket): void {
    this.waiting.add(ticket);
    this.waitingWork += ticket.totalWork;
  }

  /** False when it was not waiting any more. */
  dequeue(ticket: Ticket): boolean {
    if (!this.waiting.delete(ticket)) return false;
    this.waitingWork = this.waiting.size === 0 ? 0 : this.waitingWork - ticket.totalWork;
    return true;
  }

  /**
   * Nobody starts before they arrived: without this, a queue that ran ahead while it was nearly empty could later claim
   * the time it did not use.
   */
  boundNextStart(): void {
    const oldest = this.oldest;
    if (oldest !== undefined && this.nextStart < oldest.virtualArrival)
      this.nextStart = oldest.virtualArrival;
  }
}
