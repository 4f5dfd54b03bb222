import type { DispatchProgress } from '../../observability/flow-control/level-tallies.ts';
import { ESTIMATED_SERVICE_MS, type FlowQueue, type Ticket } from './queue.ts';

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
