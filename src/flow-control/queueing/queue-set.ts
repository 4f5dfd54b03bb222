import type { Queuing } from '../flow-configuration.ts';
import type { FlowClock } from '../flow-control.ts';
import type { LevelRecorder } from '../flow-recorder.ts';
import { MAX_SEATS, seatsOf } from '../request-cost.ts';
import type { DemandIntegral } from './demand.ts';
import { type Arrival, ESTIMATED_SERVICE_MS, FlowQueue, selectNext, Ticket } from './queue.ts';
import type { LevelSeats } from './seats.ts';
import { Dealer } from './shuffle.ts';

/** `unlimited`: every request runs at once. `refuse`: a request that gets no seat is refused. Otherwise it waits in a queue. */
export type QueueingPolicy = 'unlimited' | 'refuse' | Queuing;

/**
 * Seats that are filled in one round of the event loop. A request that is answered from memory frees its seat in the same round,
 * so seats alone would let a burst of thousands through at once, and no other request would be read meanwhile. As many as the
 * widest request takes: at about 0.1 ms each, a round lasts about a millisecond.
 */
const SEATS_A_ROUND = MAX_SEATS;

interface QueueSetTotals {
  waiting: number;
  executing: number;
  seatsInUse: number;
  seatsWaiting: number;
  dispatched: number;
  rejected: number;
  timedOut: number;
  cancelled: number;
}

/**
 * The queues of one priority level, emptied by fair queueing for servers of many seats (Kubernetes: fairqueuing/queueset).
 * Virtual time R runs at the rate at which each active queue would be served if the seats in use were divided evenly among
 * them. (Kubernetes takes the requested seats, up to the limit, which is the same as long as no seat is free.) Each queue has the
 * virtual time at which its next request would start. The request with the least virtual finish, start plus work, is dispatched
 * next. When a request has ended, the clock of its queue is corrected by the time that it really took. R is a float in
 * seat-seconds: with 600 seats it still distinguishes microseconds after a hundred years.
 *
 * An uncontended request costs 2 µs of CPU here (Node 24, Xeon at 2.5 GHz, metrics included), however many queues there are:
 * totals are kept, not summed, and only queues with waiting requests are compared.
 *
 * The queues are in one thread. The others take free seats without a queue (`startAtOnce`), as long as no request waits.
 */
export class QueueSet {
  readonly #clock: FlowClock;
  readonly #demand: DemandIntegral;
  readonly #recorder: LevelRecorder;
  /** Those of all threads. */
  readonly #seats: LevelSeats;
  readonly #queues: FlowQueue<Ticket>[] = [];
  /** Queues with waiting requests. */
  readonly #pending = new Set<FlowQueue<Ticket>>();
  readonly #queueless = new Set<Ticket>();
  readonly #totals: QueueSetTotals = {
    waiting: 0,
    executing: 0,
    seatsInUse: 0,
    seatsWaiting: 0,
    dispatched: 0,
    rejected: 0,
    timedOut: 0,
    cancelled: 0,
  };
  #policy: QueueingPolicy = 'unlimited';
  #dealer: Dealer | undefined;
  #activeQueues = 0;
  #virtualNow = 0;
  #syncedAt: number;
  /** Index of the queue that was served last. Among equals, the next one after it is first. */
  #lastServed = 0;
  #dealt = 0;
  #leftInRound = SEATS_A_ROUND;
  #roundEnds = false;

  constructor(options: {
    clock: FlowClock;
    demand: DemandIntegral;
    recorder: LevelRecorder;
    seats: LevelSeats;
  }) {
    this.#clock = options.clock;
    this.#demand = options.demand;
    this.#recorder = options.recorder;
    this.#seats = options.seats;
    this.#syncedAt = options.clock.now();
  }

  get totals(): Readonly<QueueSetTotals> {
    return this.#totals;
  }

  get queues(): readonly FlowQueue<Ticket>[] {
    return this.#queues;
  }

  get queueless(): ReadonlySet<Ticket> {
    return this.#queueless;
  }

  /** Whether no thread has a request here. */
  get isIdle(): boolean {
    return this.#totals.waiting === 0 && this.#totals.executing === 0 && this.#seats.requests === 0;
  }

  get seats(): LevelSeats {
    return this.#seats;
  }

  /** Seats that may be in use at once. */
  get limit(): number {
    return this.#seats.limit;
  }

  /** May be called at any time. Queues that are no longer wanted are emptied, then dropped. */
  configure(policy: QueueingPolicy, limit: number): void {
    this.#sync();
    if (typeof policy === 'object') {
      while (this.#queues.length < policy.queues)
        this.#queues.push(new FlowQueue<Ticket>(this.#queues.length));
      if (!sameDeck(this.#policy, policy)) this.#dealer = new Dealer(policy.queues, policy.handSize);
    }
    this.#policy = policy;
    this.#seats.limit = limit;
    this.#dropUnwanted();
    this.#dispatchSoon();
  }

  /** Undefined: refused. Otherwise the ticket runs already, or waits. */
  start(arrival: Arrival): Ticket | undefined {
    this.#sync();
    const policy = this.#policy;
    if (typeof policy !== 'object') {
      const ticket = this.#startQueueless(arrival);
      if (ticket === undefined) this.#refuse(arrival, 'concurrency-limit');
      return ticket;
    }
    const queue = this.#shortestOf(arrival);
    const isFull = (): boolean => this.#seats.inUse + this.#totals.seatsWaiting >= this.limit;
    if (queue.waiting.size >= policy.queueLengthLimit && isFull()) {
      this.#refuse(arrival, 'queue-full');
      return undefined;
    }
    const ticket = new Ticket(arrival, this.#syncedAt, this.#virtualNow, queue);
    this.#enqueue(ticket, queue);
    // A request that finds others waiting waits with them for the end of the round.
    if (this.#totals.waiting === 1) this.#dispatchAll();
    else this.#dispatchSoon();
    return ticket;
  }

  /** As {@link start}, of a thread without queues: undefined says that the thread with the queues decides. */
  startAtOnce(arrival: Arrival): Ticket | undefined {
    const isQueued = typeof this.#policy === 'object';
    if (this.#seats.waiting > 0 || (isQueued && this.#leftInRound <= 0)) return undefined;
    this.#syncedAt = this.#clock.now();
    const ticket = this.#startQueueless(arrival);
    if (ticket === undefined || !isQueued) return ticket;
    this.#leftInRound -= ticket.seats;
    this.#endRound();
    return ticket;
  }

  /** To be called when another thread gave seats back while requests wait. */
  freed(): void {
    this.#dispatchSoon();
  }

  /** Counts what other threads do. */
  observe(): void {
    this.#sync();
    this.#note();
  }

  /** To be called once for each ticket that ran. */
  finish(ticket: Ticket): void {
    if (ticket.state !== 'executing') return;
    this.#sync();
    ticket.state = 'finished';
    const { queue, arrival } = ticket;
    this.#totals.executing -= 1;
    this.#seats.finished();
    arrival.recorder.finished();
    if (queue === undefined) this.#queueless.delete(ticket);
    else {
      queue.executing.delete(ticket);
      if (!queue.isActive) this.#activeQueues -= 1;
      const unusedMs = ESTIMATED_SERVICE_MS - (this.#syncedAt - (ticket.startedAt ?? this.#syncedAt));
      queue.nextStart -= (arrival.work.initialSeats * unusedMs) / 1000;
      queue.boundNextStart();
    }
    if (ticket.extraMs <= 0) this.#release(ticket);
    else {
      this.#note();
      this.#clock.after(ticket.extraMs, () => {
        this.#sync();
        this.#release(ticket);
        this.#dispatchSoon();
      });
    }
    this.#dispatchSoon();
  }

  /** Takes a ticket out of its queue. Does nothing when the ticket no longer waits. */
  giveUp(ticket: Ticket, reason: 'time-out' | 'cancelled'): void {
    const { queue } = ticket;
    if (queue === undefined || !queue.waiting.has(ticket)) return;
    this.#sync();
    this.#dequeue(ticket, queue);
    if (!queue.isActive) this.#activeQueues -= 1;
    queue.boundNextStart();
    if (reason === 'time-out') this.#totals.timedOut += 1;
    else this.#totals.cancelled += 1;
    this.#totals.rejected += 1;
    ticket.arrival.recorder.rejected(reason);
    this.#note();
    ticket.reject();
    // The ticket may have held the others up because it was too wide for the free seats.
    this.#dispatchSoon();
  }

  #startQueueless(arrival: Arrival): Ticket | undefined {
    if (!this.#take(seatsOf(arrival.work))) return undefined;
    const ticket = new Ticket(arrival, this.#syncedAt, this.#virtualNow, undefined);
    this.#queueless.add(ticket);
    this.#execute(ticket);
    return ticket;
  }

  #refuse({ recorder }: Arrival, reason: 'queue-full' | 'concurrency-limit'): void {
    this.#totals.rejected += 1;
    recorder.rejected(reason);
  }

  #execute(ticket: Ticket): void {
    this.#totals.executing += 1;
    this.#totals.dispatched += 1;
    this.#totals.seatsInUse += ticket.seats;
    ticket.arrival.recorder.started(ticket.seats);
    ticket.execute(this.#syncedAt);
    this.#note();
  }

  #release(ticket: Ticket): void {
    this.#totals.seatsInUse -= ticket.seats;
    this.#seats.giveBack(ticket.seats);
    if (ticket.queue !== undefined) ticket.queue.seatsInUse -= ticket.seats;
    ticket.arrival.recorder.released(ticket.seats);
    this.#note();
    this.#dropUnwanted();
  }

  /** The queue with the least work in the flow's hand; among equals, not always the same one. */
  #shortestOf({ schema, distinguisher }: Arrival): FlowQueue<Ticket> {
    const hand = this.#dealer?.handOf(schema, distinguisher) ?? [0];
    let shortest: FlowQueue<Ticket> | undefined;
    for (let at = 0; at < hand.length; at += 1) {
      const queue = this.#queueAt(hand[(this.#dealt + at) % hand.length] ?? 0);
      if (shortest === undefined || queue.waitingWork < shortest.waitingWork) shortest = queue;
    }
    this.#dealt = (this.#dealt + 1) % hand.length;
    return shortest ?? this.#queueAt(0);
  }

  #queueAt(index: number): FlowQueue<Ticket> {
    const queue = this.#queues[index];
    if (queue === undefined) throw new Error(`no queue ${index}`);
    return queue;
  }

  #enqueue(ticket: Ticket, queue: FlowQueue<Ticket>): void {
    if (!queue.isActive) {
      queue.nextStart = this.#virtualNow;
      this.#activeQueues += 1;
    }
    queue.enqueue(ticket);
    this.#pending.add(queue);
    this.#totals.waiting += 1;
    this.#seats.waiting = this.#totals.waiting;
    this.#totals.seatsWaiting += ticket.seats;
    ticket.arrival.recorder.enqueued(ticket.seats, queue.waiting.size);
    queue.boundNextStart();
    this.#note();
  }

  #dequeue(ticket: Ticket, queue: FlowQueue<Ticket>): void {
    queue.dequeue(ticket);
    if (queue.waiting.size === 0) this.#pending.delete(queue);
    this.#totals.waiting -= 1;
    this.#seats.waiting = this.#totals.waiting;
    this.#totals.seatsWaiting -= ticket.seats;
    ticket.arrival.recorder.dequeued(ticket.seats);
  }

  #dispatchAll(): void {
    while (this.#pending.size > 0 && this.#seats.inUse < this.limit) {
      if (this.#leftInRound <= 0 || !this.#dispatchNext()) return;
    }
  }

  /**
   * Waits for the end of the round, so that all requests that end in it have corrected their queues' clocks, and all that arrive
   * in it can be chosen.
   */
  #dispatchSoon(): void {
    if (this.#pending.size > 0) this.#endRound();
  }

  #endRound(): void {
    if (this.#roundEnds) return;
    this.#roundEnds = true;
    this.#clock.soon(() => {
      this.#roundEnds = false;
      this.#leftInRound = SEATS_A_ROUND;
      this.#sync();
      this.#dispatchAll();
    });
  }

  /** False when the next request does not fit. The others wait for it, because wide requests would otherwise wait forever. */
  #dispatchNext(): boolean {
    const next = selectNext(this.#pending, this.#lastServed, this.#queues.length);
    if (next === undefined) return false;
    const { queue, ticket } = next;
    if (!this.#take(ticket.seats)) {
      ticket.arrival.recorder.noAccommodation();
      return false;
    }
    this.#lastServed = queue.index;
    this.#recorder.dispatch(next.bounds.toProgress(this.#virtualNow, queue.nextStart));
    this.#leftInRound -= ticket.seats;
    this.#endRound();
    this.#dequeue(ticket, queue);
    ticket.narrowTo(this.limit);
    queue.executing.add(ticket);
    queue.seatsInUse += ticket.seats;
    queue.nextStart += ticket.totalWork;
    queue.boundNextStart();
    this.#execute(ticket);
    return true;
  }

  #take(seats: number): boolean {
    if (this.#policy !== 'unlimited') return this.#seats.take(seats);
    this.#seats.add(seats);
    return true;
  }

  #sync(): void {
    const now = this.#clock.now();
    if (this.#activeQueues > 0) {
      // The rate of real service: when memory answers, free seats do not mean that more could have been served. With a rate that
      // assumes so, every start would be bound by its arrival, and the order would be that of arrival.
      // Seats that other threads took without a queue served no queue.
      const rate = Math.min(this.#totals.seatsInUse, this.limit) / this.#activeQueues;
      this.#virtualNow += (rate * (now - this.#syncedAt)) / 1000;
      this.#recorder.progress(this.#virtualNow);
    }
    this.#syncedAt = now;
  }

  /** The main thread measures what all of them hold. */
  #note(): void {
    if (!this.#seats.isMain) return;
    const { waiting, seatsWaiting } = this.#totals;
    const { inUse: seatsInUse, requests: executing } = this.#seats;
    this.#demand.set(this.#syncedAt, seatsInUse + seatsWaiting);
    this.#recorder.usage(this.#syncedAt, { waiting, executing, seatsInUse, seatsWaiting });
  }

  #dropUnwanted(): void {
    const wanted = typeof this.#policy === 'object' ? this.#policy.queues : 0;
    while (this.#queues.length > wanted && this.#queues.at(-1)?.isEmpty === true) this.#queues.pop();
  }
}

/** Whether hands stay valid, because nothing that decides them has changed. */
function sameDeck(before: QueueingPolicy, { queues, handSize }: Queuing): boolean {
  return typeof before === 'object' && before.queues === queues && before.handSize === handSize;
}
