import { expect, test } from 'vitest';
import type { PriorityLevel } from '../../src/flow-control/flow-configuration.ts';
import { type Level, Levels } from '../../src/flow-control/levels.ts';
import type { Ticket } from '../../src/flow-control/queueing/queue.ts';
import { plainWork } from '../../src/flow-control/request-cost.ts';
import { freshLevels, ownCounters, TurnedClock, toRequest } from './kit.ts';
import { NO_METRICS } from './no-metrics.ts';

function limited(name: string, shares: number, more: Partial<PriorityLevel> = {}): PriorityLevel {
  const queuing = { queues: 8, handSize: 2, queueLengthLimit: 100 };
  return {
    name,
    uid: '',
    exempt: false,
    shares,
    lendablePercent: 0,
    borrowingLimitPercent: undefined,
    queuing,
    ...more,
  };
}

function create(serverSeats: number, configs: readonly PriorityLevel[]) {
  const clock = new TurnedClock();
  const levels = new Levels({
    ...{ clock, metrics: NO_METRICS, serverSeats },
    counters: ownCounters().seats,
  });
  levels.configure(configs);
  const level = (name: string): Level => {
    const found = levels.all.get(name);
    if (found === undefined) throw new Error(`no level ${name}`);
    return found;
  };
  return { clock, levels, level };
}

function start(level: Level, count: number): Ticket[] {
  const recorder = NO_METRICS.flow(level.config.name, 'all');
  return Array.from({ length: count }, (_, n) => {
    const arrival = {
      schema: 'all',
      distinguisher: `u${n}`,
      work: plainWork(1),
      request: toRequest({}),
      recorder,
    };
    return level.queues.start(arrival);
  }).filter((ticket) => ticket !== undefined);
}

test('the 600 seats of a default server are divided as Kubernetes 1.31 divides them', () => {
  const { levels } = create(600, freshLevels());
  const limits = Object.fromEntries(
    [...levels.all].map(
      ([
        name,
        {
          limits: { nominal, minimum, maximum },
        },
      ]) => [name, [nominal, minimum, maximum]],
    ),
  );
  expect(limits).toEqual({
    'catch-all': [13, 13, 613],
    exempt: [0, 0, 600],
    system: [74, 50, 674],
    'node-high': [98, 73, 698],
    'leader-election': [25, 25, 625],
    'workload-high': [98, 49, 698],
    'workload-low': [245, 24, 845],
    'global-default': [49, 24, 649],
  });
});

test('a request may take 15% of its level, or less where hands are large', () => {
  const { level } = create(600, [...freshLevels(), limited('small', 1)]);
  expect(level('workload-low').widest).toBe(10);
  expect(level('global-default').widest).toBe(8);
  expect(level('small').widest).toBe(1);
  expect(level('catch-all').widest).toBe(10);
});

test('a level lends what it does not need to one that needs more, and gets it back when it needs it', () => {
  const levels = [
    limited('lender', 50, { lendablePercent: 80 }),
    limited('borrower', 50),
    limited('proud', 50),
  ];
  const { clock, levels: all, level } = create(150, levels);
  expect([level('lender').limits, level('borrower').limits]).toEqual([
    { nominal: 49, minimum: 10, maximum: 199 },
    { nominal: 49, minimum: 49, maximum: 199 },
  ]);
  start(level('borrower'), 90);
  clock.advance(10_000);
  all.adjust();
  expect(level('lender').seats).toBe(10);
  expect(level('borrower').seats).toBeGreaterThan(80);
  clock.advance(0);
  expect(level('borrower').queues.totals.executing).toBe(level('borrower').seats);
  expect(level('proud').seats).toBeGreaterThanOrEqual(49);

  start(level('lender'), 60);
  clock.advance(10_000);
  all.adjust();
  expect(level('lender').seats).toBeGreaterThanOrEqual(49);
  // What runs is not stopped; the seats go back one by one.
  expect(level('borrower').queues.totals.executing).toBeGreaterThan(80);
});

test('a level borrows no more than its limit', () => {
  const levels = [
    limited('lender', 50, { lendablePercent: 100 }),
    limited('borrower', 50, { borrowingLimitPercent: 20 }),
  ];
  const { clock, levels: all, level } = create(100, levels);
  start(level('borrower'), 90);
  clock.advance(10_000);
  all.adjust();
  const { nominal, maximum } = level('borrower').limits;
  expect(maximum).toBe(nominal + Math.round(nominal * 0.2));
  expect(level('borrower').seats).toBe(maximum);
});

test('what exempt requests use is missing to the others, who keep what they cannot lend', () => {
  const {
    clock,
    levels: all,
    level,
  } = create(100, [limited('a', 50, { lendablePercent: 50 }), limited('b', 45)]);
  start(level('a'), 40);
  start(level('exempt'), 30);
  clock.advance(10_000);
  all.adjust();
  expect(level('exempt').seats).toBe(30);
  expect(level('a').seats).toBeLessThan(40);
  expect(level('a').seats).toBeGreaterThanOrEqual(level('a').limits.minimum);
  expect(level('b').seats).toBe(level('b').limits.minimum);
});

test('a deleted level stays until its last request has ended, and takes no new ones', () => {
  const { levels, level } = create(100, [limited('gone', 50), limited('stays', 50)]);
  const [ticket] = start(level('gone'), 1);
  levels.configure([limited('stays', 50)]);
  expect(level('gone').retired).toBe(true);
  expect(levels.current.has('gone')).toBe(false);
  if (ticket !== undefined) level('gone').queues.finish(ticket);
  levels.configure([limited('stays', 50)]);
  expect([...levels.all.keys()].sort()).toEqual(['catch-all', 'exempt', 'stays']);
});

test('the mandatory levels are there without objects', () => {
  const { level } = create(600, []);
  expect(level('exempt').policy).toBe('unlimited');
  expect(level('catch-all').policy).toBe('refuse');
  expect(level('catch-all').seats).toBe(600);
});
