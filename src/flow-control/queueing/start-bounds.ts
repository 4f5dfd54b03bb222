import type { DispatchProgress } from '../../observability/flow-control/level-tallies.ts';
import type { FlowQueue } from './queue.ts';
import { ESTIMATED_SERVICE_MS, type Ticket } from './ticket.ts';

/** The range of virtual starts over the queues that were looked at: how far apart the flows have got. */
export class StartBounds {
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
