import { expect, test } from 'vitest';
import { DemandIntegral } from '../../src/flow-control/queueing/demand.ts';
import type { Ticket } from '../../src/flow-control/queueing/queue.ts';
import { type QueueingPolicy, QueueSet } from '../../src/flow-control/queueing/queue-set.ts';
import { plainWork, type Work } from '../../src/flow-control/request-cost.ts';
import { ownCounters, TurnedClock, toRequest } from './kit.ts';
import { NO_METRICS } from './no-metrics.ts';

const QUEUING = { queues: 64, handSize: 6, queueLengthLimit: 50 };

/** A level with a diary of who was let in, in order. */
class Desk {
  readonly clock: TurnedClock;
  readonly set: QueueSet;
  readonly begun: string[] = [];
  readonly #running = new Map<Ticket, string>();
  readonly #waiting = new Map<Ticket, string>();

  constructor(policy: QueueingPolicy, limit: number, clock = new TurnedClock()) {
    this.clock = clock;
    const recorder = NO_METRICS.level('it');
    const seats = ownCounters().seats.open('it');
    this.set = new QueueSet({ clock: this.clock, demand: new DemandIntegral(0), recorder, seats });
    this.set.configure(policy, limit);
  }

  /** Arrives as `flow`; answers the ticket, or undefined when refused. */
  come(flow: string, work: Work = plainWork(1)): Ticket | undefined {
    const arrival = {
      schema: 'all',
      distinguisher: flow,
      work,
      request: toRequest({ user: flow }),
      recorder: NO_METRICS.flow('it', 'all'),
    };
    const ticket = this.set.start(arrival);
    if (ticket !== undefined) this.#waiting.set(ticket, flow);
    this.#look();
    return ticket;
  }

  /** Ends the request that has run the longest, after it took `ms`. */
  endOne(ms = 3): void {
    this.clock.advance(ms);
    const [first] = this.#running.keys();
    if (first === undefined) throw new Error('nothing runs');
    this.end(first);
  }

  end(ticket: Ticket): void {
    this.#running.delete(ticket);
    this.set.finish(ticket);
    this.settle();
  }

  /** Lets the round of the event loop end. */
  settle(): void {
    this.clock.advance(0);
    this.#look();
  }

  #look(): void {
    for (const [ticket, flow] of this.#waiting) {
      if (ticket.state === 'waiting') continue;
      this.#waiting.delete(ticket);
      if (ticket.state !== 'executing') continue;
      this.#running.set(ticket, flow);
      this.begun.push(flow);
    }
  }
}

test('requests run at once while there are seats, and wait when there are none', () => {
  const desk = new Desk(QUEUING, 2);
  const states = [desk.come('a'), desk.come('a'), desk.come('a')].map((ticket) => ticket?.state);
  expect(states).toEqual(['executing', 'executing', 'waiting']);
  expect(desk.set.totals).toMatchObject({ executing: 2, waiting: 1, seatsInUse: 2, seatsWaiting: 1 });
  desk.endOne();
  expect(desk.begun).toEqual(['a', 'a', 'a']);
  desk.endOne();
  desk.endOne();
  expect(desk.set.isIdle).toBe(true);
  expect(desk.set.totals).toMatchObject({ seatsInUse: 0, dispatched: 3, rejected: 0 });
});

test('a small flow does not wait behind the backlog of a noisy one', () => {
  const desk = new Desk(QUEUING, 4);
  for (let n = 0; n < 100; n += 1) desk.come('noisy');
  desk.come('quiet');
  for (let n = 0; n < 6; n += 1) desk.endOne();
  // The noisy flow has six queues: each of them has its turn, no more.
  expect(desk.begun.slice(4)).toContain('quiet');
});

test('two busy flows get the same number of turns, even if one asks for more', () => {
  const desk = new Desk({ ...QUEUING, queueLengthLimit: 1000 }, 4);
  for (let n = 0; n < 400; n += 1) desk.come('greedy');
  for (let n = 0; n < 60; n += 1) desk.come('modest');
  // The greedy flow has several queues, the modest one as many: both were dealt hands of the same size.
  for (let n = 0; n < 60; n += 1) desk.endOne();
  const turns = desk.begun.slice(4);
  const modest = turns.filter((flow) => flow === 'modest').length;
  expect(modest).toBeGreaterThanOrEqual(24);
  expect(modest).toBeLessThanOrEqual(36);
});

test('with one queue each, requests that run twice as long get half as many turns', () => {
  const desk = new Desk({ queues: 2, handSize: 1, queueLengthLimit: 1000 }, 1);
  const [slow, fast] = flowsOfDifferentQueues(desk);
  for (let n = 0; n < 300; n += 1) {
    desk.come(slow);
    desk.come(fast);
  }
  desk.begun.length = 0;
  let last = slow;
  for (let n = 0; n < 90; n += 1) {
    desk.endOne(last === slow ? 20 : 10);
    last = desk.begun.at(-1) ?? '';
  }
  const slowTurns = desk.begun.filter((flow) => flow === slow).length;
  expect(slowTurns).toBeGreaterThanOrEqual(28);
  expect(slowTurns).toBeLessThanOrEqual(32);
});

function flowsOfDifferentQueues(desk: Desk): [string, string] {
  const seen = new Map<number, string>();
  for (let n = 0; seen.size < 2; n += 1) {
    const ticket = desk.come(`flow${n}`);
    if (ticket?.queue !== undefined) seen.set(ticket.queue.index, `flow${n}`);
  }
  while (!desk.set.isIdle) desk.endOne();
  return [seen.get(0) ?? '', seen.get(1) ?? ''];
}

test('an idle flow has no later claim to the time that it did not use', () => {
  const desk = new Desk({ queues: 2, handSize: 1, queueLengthLimit: 1000 }, 1);
  const [early, late] = flowsOfDifferentQueues(desk);
  for (let n = 0; n < 50; n += 1) desk.come(early);
  for (let n = 0; n < 30; n += 1) desk.endOne(100);
  // The late flow was idle for three seconds; it gets its half from now on, not three seconds in one go.
  for (let n = 0; n < 20; n += 1) desk.come(late);
  desk.begun.length = 0;
  for (let n = 0; n < 20; n += 1) desk.endOne(3);
  expect(desk.begun.filter((flow) => flow === late).length).toBeLessThanOrEqual(12);
  expect(desk.begun).toContain(late);
});

test('a wide request gets its seats although narrow ones keep coming', () => {
  const desk = new Desk(QUEUING, 4);
  for (let n = 0; n < 4; n += 1) desk.come(`n${n}`);
  const wide = desk.come('wide', plainWork(4));
  for (let n = 0; n < 20; n += 1) desk.come(`m${n}`);
  let ended = 0;
  while (wide?.state === 'waiting' && ended < 100) {
    desk.endOne();
    ended += 1;
  }
  expect(wide?.state).toBe('executing');
  expect(desk.set.totals).toMatchObject({ executing: 1, seatsInUse: 4 });
  expect(ended).toBeLessThan(24);
});

test('a request wider than the level runs when it is alone', () => {
  const desk = new Desk(QUEUING, 2);
  desk.come('a');
  const wide = desk.come('wide', plainWork(5));
  expect(wide?.state).toBe('waiting');
  desk.endOne();
  expect(wide?.state).toBe('executing');
  expect(desk.come('a')?.state).toBe('waiting');
});

test('a full queue refuses, and only the flow whose queues are full', () => {
  const desk = new Desk({ ...QUEUING, queueLengthLimit: 2 }, 1);
  const noisy = Array.from({ length: 40 }, () => desk.come('noisy'));
  // One runs, and each of the six queues holds two.
  expect(noisy.filter((ticket) => ticket !== undefined)).toHaveLength(13);
  expect(desk.set.totals.rejected).toBe(27);
  expect(desk.come('quiet')?.state).toBe('waiting');
});

test('a level without queues refuses a request that gets no seat at once', () => {
  const desk = new Desk('refuse', 2);
  expect([desk.come('a')?.state, desk.come('b')?.state, desk.come('c')]).toEqual([
    'executing',
    'executing',
    undefined,
  ]);
  desk.endOne();
  expect(desk.come('c')?.state).toBe('executing');
});

test('an exempt level has no limit', () => {
  const desk = new Desk('unlimited', 0);
  const all = Array.from({ length: 50 }, () => desk.come('admin', plainWork(10)));
  expect(all.every((ticket) => ticket?.state === 'executing')).toBe(true);
  for (let n = 0; n < 50; n += 1) desk.endOne();
  expect(desk.set.isIdle).toBe(true);
});

test('the seats for the events of a write are kept after it has ended', () => {
  const desk = new Desk(QUEUING, 4);
  const write = desk.come('a', { initialSeats: 1, finalSeats: 3, extraMs: 20 });
  expect(desk.set.totals.seatsInUse).toBe(3);
  const wide = desk.come('b', plainWork(2));
  expect(wide?.state).toBe('waiting');
  desk.clock.advance(5);
  if (write !== undefined) desk.end(write);
  expect(desk.set.totals).toMatchObject({ executing: 0, seatsInUse: 3 });
  desk.clock.advance(19);
  expect(wide?.state).toBe('waiting');
  desk.clock.advance(1);
  expect(wide?.state).toBe('executing');
});

test('a level with too few seats for the events of a write keeps fewer for longer', () => {
  const desk = new Desk(QUEUING, 2);
  const write = desk.come('a', { initialSeats: 1, finalSeats: 10, extraMs: 5 });
  expect(write).toMatchObject({ state: 'executing', finalSeats: 2, extraMs: 25 });
});

test('a request that gives up leaves the queue and lets others through', () => {
  const desk = new Desk({ queues: 1, handSize: 1, queueLengthLimit: 50 }, 2);
  desk.come('a');
  const wide = desk.come('wide', plainWork(2));
  const narrow = desk.come('b');
  expect([wide?.state, narrow?.state]).toEqual(['waiting', 'waiting']);
  if (wide !== undefined) desk.set.giveUp(wide, 'time-out');
  desk.settle();
  expect([wide?.state, narrow?.state]).toEqual(['rejected', 'executing']);
  expect(desk.set.totals).toMatchObject({ waiting: 0, seatsWaiting: 0, timedOut: 1, rejected: 1 });
  if (wide !== undefined) desk.set.giveUp(wide, 'cancelled');
  expect(desk.set.totals.cancelled).toBe(0);
});

test('more seats let waiting requests in at once, fewer seats stop no running request', () => {
  const desk = new Desk(QUEUING, 1);
  const tickets = Array.from({ length: 5 }, (_, n) => desk.come(`f${n}`));
  desk.set.configure(QUEUING, 4);
  desk.settle();
  expect(tickets.filter((ticket) => ticket?.state === 'executing')).toHaveLength(4);
  desk.set.configure(QUEUING, 1);
  expect(desk.set.totals.executing).toBe(4);
});

test('queues that are no longer wanted are emptied, then dropped', () => {
  const desk = new Desk({ queues: 32, handSize: 2, queueLengthLimit: 50 }, 1);
  const tickets = Array.from({ length: 40 }, (_, n) => desk.come(`f${n}`));
  desk.set.configure({ queues: 4, handSize: 2, queueLengthLimit: 50 }, 1);
  expect(desk.set.queues.length).toBeGreaterThan(4);
  for (let n = 0; n < 40; n += 1) desk.endOne();
  expect(tickets.every((ticket) => ticket?.state === 'finished')).toBe(true);
  expect(desk.set.queues).toHaveLength(4);
  expect(desk.set.isIdle).toBe(true);
});

test('a request that ends twice gives its seats back once', () => {
  const desk = new Desk(QUEUING, 2);
  const ticket = desk.come('a');
  if (ticket !== undefined) {
    desk.end(ticket);
    desk.end(ticket);
  }
  expect(desk.set.totals).toMatchObject({ executing: 0, seatsInUse: 0 });
});

test('a burst is let in a few at a time, so that later requests are not behind all of it', () => {
  const desk = new Desk(QUEUING, 100);
  for (let n = 0; n < 40; n += 1) desk.come('noisy');
  expect(desk.begun).toHaveLength(10);
  desk.come('quiet');
  desk.settle();
  expect(desk.begun).toContain('quiet');
  for (let n = 0; n < 4; n += 1) desk.settle();
  expect(desk.begun).toHaveLength(41);
});

test('requests that end together all count for what they took before the next ones are chosen', () => {
  const desk = new Desk(QUEUING, 6);
  const first = Array.from({ length: 6 }, () => desk.come('noisy'));
  for (let n = 0; n < 60; n += 1) desk.come('noisy');
  desk.clock.advance(200);
  desk.come('quiet');
  desk.clock.advance(1);
  for (const ticket of first) if (ticket !== undefined) desk.set.finish(ticket);
  desk.settle();
  expect(desk.begun.slice(6, 12)).toContain('quiet');
});

/** The event loop's rounds end when a test says so. */
class RoundClock extends TurnedClock {
  readonly #waiting: (() => void)[] = [];

  override soon(callback: () => void): void {
    this.#waiting.push(callback);
  }

  endRound(): void {
    for (const callback of this.#waiting.splice(0)) callback();
  }
}

test('where seats are free and only time is short, the order is that of shares, not that of arrival', () => {
  const clock = new RoundClock();
  const desk = new Desk(QUEUING, 100, clock);
  const round = (): void => {
    // Ten requests of 0.1 ms each, and as many new ones.
    for (let n = 0; n < 10; n += 1) {
      desk.endOne(0.1);
      desk.come('noisy');
    }
    clock.endRound();
    desk.settle();
  };
  for (let n = 0; n < 200; n += 1) desk.come('noisy');
  for (let n = 0; n < 30; n += 1) round();
  desk.come('quiet');
  round();
  round();
  expect(desk.begun).toContain('quiet');
});
