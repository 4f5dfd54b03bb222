import { expect, test } from 'vitest';
import { dumpLevels, dumpRequests, runningTurns } from '../../src/flow-control/dumps.ts';
import { type FlowRequest, MaxInFlight } from '../../src/flow-control/flow-control.ts';
import { allocateFlowMemory, PriorityAndFairness } from '../../src/flow-control/priority-and-fairness.ts';
import { admitted, countersIn, freshLevels, freshSchemas, TurnedClock, toRequest } from './kit.ts';
import { NO_METRICS } from './no-metrics.ts';

/** A server of 20 seats with two serving threads, whose messages arrive at once. Level global-default has three seats, or more on loan. */
function create() {
  const clock = new TurnedClock();
  const memory = allocateFlowMemory(2);
  const parts = {
    ...{ serverSeats: 20, requestTimeoutMs: 60_000, countObjects: () => 0, watchList: true },
    ...{ clock, metrics: NO_METRICS },
  };
  const main = new PriorityAndFairness({ ...parts, counters: countersIn(memory, 0) });
  main.configure(freshSchemas(), freshLevels());
  const asked: FlowRequest[] = [];
  const threads = [1, 2].map((row) => {
    const thread = new PriorityAndFairness({
      ...{ ...parts, counters: countersIn(memory, row, (slot) => main.freed(slot)) },
      elsewhere: {
        begin: (request) => {
          asked.push(request);
          return main.begin(request);
        },
        counts: ({ resource }) => resource === 'counted-elsewhere',
      },
    });
    thread.hear(main.configuration);
    return thread;
  });
  const [one, two] = threads;
  if (one === undefined || two === undefined) throw new Error('a thread is missing');
  main.follow((configuration) => {
    for (const thread of threads) thread.hear(configuration);
  });
  const level = main.levels.get('global-default');
  if (level === undefined) throw new Error('a level is missing');
  return { clock, main, one, two, asked, level };
}

test('a thread takes free seats without a question, and all threads together take no more than the level has', () => {
  const { main, one, two, asked, level, clock } = create();
  const turns = [];
  for (let at = 0; at < level.seats; at += 1)
    turns.push(admitted((at % 2 === 0 ? one : two).begin(toRequest({}))));
  expect(asked).toEqual([]);
  expect(level.queues.seats.inUse).toBe(level.seats);
  const waiting = one.begin(toRequest({}));
  expect(waiting).toBeInstanceOf(Promise);
  expect(asked).toHaveLength(1);
  expect(main.levels.get('global-default')?.queues.totals.waiting).toBe(1);
  turns[0]?.end();
  // A new request does not pass one that waits.
  expect(two.begin(toRequest({}))).toBeInstanceOf(Promise);
  clock.advance(0);
  expect(level.queues.totals).toMatchObject({ waiting: 1, executing: 1 });
  expect(level.queues.seats.inUse).toBe(level.seats);
});

test('a seat that any thread gives back goes to the request that waits', async () => {
  const { one, two, level, clock } = create();
  const turns = Array.from({ length: level.seats }, () => admitted(one.begin(toRequest({}))));
  const waiting = two.begin(toRequest({ user: 'bob' }));
  turns[0]?.end();
  turns[0]?.end();
  clock.advance(0);
  const turn = await waiting;
  expect(turn).toMatchObject({ admitted: true });
  expect(level.queues.seats.inUse).toBe(level.seats);
});

test('where queues form, flows of different threads get turns alternately', async () => {
  const { one, two, level, clock } = create();
  const first = Array.from({ length: level.seats }, () => admitted(one.begin(toRequest({ user: 'noisy' }))));
  const order: string[] = [];
  const come = (thread: PriorityAndFairness, user: string): void => {
    const turn = thread.begin(toRequest({ user }));
    if (!(turn instanceof Promise)) throw new Error('it need not wait');
    void turn.then((given) => {
      order.push(user);
      clock.advance(3);
      if (given.admitted) given.end();
    });
  };
  for (let at = 0; at < 12; at += 1) come(one, 'noisy');
  for (let at = 0; at < 4; at += 1) come(two, 'quiet');
  for (const turn of first) turn.end();
  for (let round = 0; round < 200 && order.length < 16; round += 1) {
    clock.advance(1);
    await Promise.resolve();
  }
  expect(order).toHaveLength(16);
  // All four are through when the other flow has had about as many turns.
  expect(order.lastIndexOf('quiet')).toBeLessThan(10);
});

test('the seats and watches of a thread that died are free at once', async () => {
  const { main, one, two, level, clock } = create();
  for (let at = 0; at < level.seats; at += 1) admitted(one.begin(toRequest({})));
  const waiting = two.begin(toRequest({ user: 'bob' }));
  main.threadEnded(1);
  clock.advance(0);
  expect(await waiting).toMatchObject({ admitted: true });
  expect(level.queues.seats.inUse).toBe(1);
});

test('a write counts the watches of all threads', () => {
  const { one, two, level, clock } = create();
  const watches = Array.from({ length: 20 }, () => {
    const turn = admitted(one.begin(toRequest({ verb: 'watch', groups: ['system:masters'] })));
    turn.initialized();
    clock.advance(0);
    return turn;
  });
  const write = { verb: 'create', user: 'bob' };
  const turn = admitted(two.begin(toRequest(write)));
  turn.end();
  // Its events keep two seats for a while, or one for twice as long.
  expect(level.queues.seats.inUse).toBeGreaterThan(0);
  clock.advance(100);
  expect(level.queues.seats.inUse).toBe(0);
  for (const watch of watches) watch.end();
  admitted(two.begin(toRequest(write))).end();
  expect(level.queues.seats.inUse).toBe(0);
});

test('a deleted level stays until the last request in any thread has ended, and its place is then free', () => {
  const { main, one, asked, clock } = create();
  const levels = freshLevels();
  const turn = admitted(one.begin(toRequest({})));
  main.configure(
    freshSchemas(),
    levels.filter(({ name }) => name !== 'global-default'),
  );
  expect(main.levels.get('global-default')?.retired).toBe(true);
  turn.end();
  main.adjust();
  expect(main.levels.has('global-default')).toBe(false);
  main.configure(freshSchemas(), levels);
  clock.advance(0);
  admitted(one.begin(toRequest({})));
  expect(asked).toEqual([]);
});

test('the demand of all threads raises the seats of a level', () => {
  const { main, one, two, level, clock } = create();
  const before = level.seats;
  for (let at = 0; at < before; at += 1) {
    admitted((at % 2 === 0 ? one : two).begin(toRequest({})));
    clock.advance(0);
  }
  void two.begin(toRequest({}));
  void one.begin(toRequest({}));
  clock.advance(10_000);
  main.adjust();
  expect(level.statistics.highWatermark).toBe(before + 2);
});

test('dumps show the requests of all threads; a resource that only the main thread counts is its decision', () => {
  const { main, one, two, asked, clock } = create();
  admitted(one.begin(toRequest({ user: 'carol' }, { name: 'it' })));
  admitted(two.begin(toRequest({}, { resource: 'counted-elsewhere' })));
  expect(asked).toHaveLength(1);
  const others = [one, two].flatMap((thread) => runningTurns(thread.levels, { clock, details: true }));
  const requests = dumpRequests(main.levels, { clock, details: true }, others);
  expect(requests.split('\n').filter((line) => line.startsWith('global-default'))).toHaveLength(2);
  expect(requests).toContain('carol');
  const [row = ''] = dumpLevels(main.levels, others)
    .split('\n')
    .filter((line) => line.startsWith('global-default'));
  expect(row.split(/,\s*/).slice(5, 7)).toEqual(['2', '2']);
});

test('without fairness the limits of requests are those of all threads together', () => {
  const memory = allocateFlowMemory(2);
  const [one, two] = [1, 2].map(
    (row) => new MaxInFlight({ reading: 0, mutating: 0 }, countersIn(memory, row).seats),
  );
  new MaxInFlight({ reading: 2, mutating: 1 }, countersIn(memory, 0).seats);
  const first = admitted(one?.begin(toRequest({})));
  admitted(two?.begin(toRequest({})));
  expect(one?.begin(toRequest({}))).toMatchObject({ admitted: false });
  first.end();
  admitted(two?.begin(toRequest({})));
  admitted(one?.begin(toRequest({ verb: 'create' })));
  expect(two?.begin(toRequest({ verb: 'create' }))).toMatchObject({ admitted: false });
});
