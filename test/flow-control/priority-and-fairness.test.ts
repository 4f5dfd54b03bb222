import { expect, test } from 'vitest';
import type { PriorityLevel } from '../../src/flow-control/flow-configuration.ts';
import type { AdmittedTurn, Turn } from '../../src/flow-control/flow-control.ts';
import type { FlowMetrics } from '../../src/flow-control/flow-recorder.ts';
import { PriorityAndFairness } from '../../src/flow-control/priority-and-fairness.ts';
import { admitted, freshLevels, freshSchemas, ownCounters, TurnedClock, toRequest } from './kit.ts';
import { NO_METRICS } from './no-metrics.ts';

function create(options: { seats?: number; metrics?: FlowMetrics; objects?: number } = {}) {
  const clock = new TurnedClock();
  const engine = new PriorityAndFairness({
    serverSeats: options.seats ?? 600,
    requestTimeoutMs: 60_000,
    countObjects: () => options.objects ?? 0,
    watchList: true,
    counters: ownCounters(),
    clock,
    metrics: options.metrics ?? NO_METRICS,
  });
  engine.configure(freshSchemas(), freshLevels());
  const totals = (level: string) => {
    const found = engine.levels.get(level);
    if (found === undefined) throw new Error(`no level ${level}`);
    return found.queues.totals;
  };
  return { clock, engine, totals };
}

/** With 10 seats each level has one or a few; global-default has two. */
const SMALL = { seats: 10 };
const ADMIN = { groups: ['system:masters'] };

async function refusal(turn: Turn | Promise<Turn> | undefined): Promise<number | undefined> {
  const given = await turn;
  return given?.admitted === false ? given.retryAfterSeconds : undefined;
}

/** Requests until one has to wait. */
function fill(engine: PriorityAndFairness): { holders: AdmittedTurn[]; waiting: Promise<Turn> } {
  const holders: AdmittedTurn[] = [];
  for (;;) {
    const turn = engine.begin(toRequest({}));
    if (turn instanceof Promise) return { holders, waiting: turn };
    holders.push(admitted(turn));
  }
}

test('a request takes a seat of its level and gives it back, and learns its schema and level', () => {
  const { engine, totals } = create();
  const turn = admitted(engine.begin(toRequest({})));
  expect(turn.classification).toEqual({
    schemaUid: 'uid of global-default',
    levelUid: 'uid of global-default',
  });
  expect(totals('global-default')).toMatchObject({ executing: 1, seatsInUse: 1 });
  turn.end();
  turn.end();
  expect(totals('global-default')).toMatchObject({ executing: 0, seatsInUse: 0, dispatched: 1 });
});

test('administrators never wait, however many they are', () => {
  const { engine, totals } = create(SMALL);
  for (let n = 0; n < 500; n += 1) admitted(engine.begin(toRequest(ADMIN)));
  expect(totals('exempt')).toMatchObject({ executing: 500, waiting: 0 });
});

test('a request waits for a quarter of the request timeout, then is refused', async () => {
  const { clock, engine, totals } = create(SMALL);
  fill(engine);
  const waiting = engine.begin(toRequest({ user: 'bob' }));
  expect(waiting).toBeInstanceOf(Promise);
  clock.advance(14_999);
  expect(totals('global-default').waiting).toBe(2);
  clock.advance(1);
  expect(await refusal(waiting)).toBe(1);
  expect(totals('global-default')).toMatchObject({ waiting: 0, timedOut: 2 });
});

test('a request whose client goes away leaves its queue', async () => {
  const { engine, totals } = create(SMALL);
  fill(engine);
  const client = new AbortController();
  const waiting = engine.begin(toRequest({ signal: client.signal }));
  client.abort();
  expect(await refusal(waiting)).toBe(1);
  const gone = engine.begin(toRequest({ signal: client.signal }));
  expect(await refusal(gone)).toBe(1);
  expect(totals('global-default')).toMatchObject({ waiting: 1, cancelled: 2 });
});

test('a quiet user is served although a noisy one fills everything it can, and only the noisy one is refused', async () => {
  const { clock, engine, totals } = create(SMALL);
  const { holders, waiting } = fill(engine);
  const served: string[] = [];
  const refused: string[] = [];
  const come = async (user: string): Promise<void> => {
    const turn = await engine.begin(toRequest({ user }));
    if (turn?.admitted !== true) {
      refused.push(user);
      return;
    }
    served.push(user);
    turn.end();
  };
  const all = Array.from({ length: 400 }, () => come('noisy'));
  all.push(come('quiet'), come('quiet'));
  await Promise.resolve();
  expect(new Set(refused)).toEqual(new Set(['noisy']));
  expect(refused.length).toBeGreaterThan(50);
  for (const holder of holders) holder.end();
  const round = setInterval(() => clock.advance(0));
  const mine = await waiting;
  if (mine.admitted) mine.end();
  await Promise.all(all);
  clearInterval(round);
  const places = served.flatMap((user, at) => (user === 'quiet' ? [at] : []));
  // Of six noisy queues and one or two quiet ones each has its turn.
  expect(places).toHaveLength(2);
  expect(Math.max(...places)).toBeLessThan(16);
  expect(totals('global-default')).toMatchObject({ waiting: 0, executing: 0, seatsInUse: 0 });
});

test('a watch costs seats until its initial events are sent, and is counted with writes until it ends', () => {
  const { engine, totals } = create({ seats: 600, objects: 250 });
  const watch = { verb: 'watch', query: 'sendInitialEvents=true' };
  const turns = Array.from({ length: 10 }, () => admitted(engine.begin(toRequest({ ...watch, ...ADMIN }))));
  const mine = admitted(engine.begin(toRequest(watch)));
  expect(totals('global-default')).toMatchObject({ executing: 1, seatsInUse: 3 });
  mine.initialized();
  expect(totals('global-default')).toMatchObject({ executing: 0, seatsInUse: 0 });
  const write = admitted(engine.begin(toRequest({ verb: 'update' })));
  // Eleven watches: two seats for the events.
  expect(totals('global-default').seatsInUse).toBe(2);
  write.end();
  for (const turn of [mine, ...turns]) turn.end();
  const later = admitted(engine.begin(toRequest({ verb: 'update' })));
  expect(totals('global-default')).toMatchObject({ executing: 1, seatsInUse: 3 });
  later.end();
});

test('requests that last as long as the caller likes are not counted at all', () => {
  const { engine } = create();
  const pods = { resource: 'pods', name: 'p' };
  for (const subresource of ['exec', 'attach', 'portforward', 'proxy', 'log'])
    expect(engine.begin(toRequest({ verb: 'create' }, { ...pods, subresource }))).toBeUndefined();
  expect(engine.begin(toRequest({ path: '/debug/pprof/profile' }))).toBeUndefined();
});

test('a changed configuration decides on the next request, and waiting requests keep their places', async () => {
  const { clock, engine } = create(SMALL);
  const { holders, waiting } = fill(engine);
  const level: PriorityLevel = {
    name: 'vip',
    uid: 'vip level',
    exempt: false,
    shares: 10,
    lendablePercent: 0,
    borrowingLimitPercent: undefined,
    queuing: undefined,
  };
  const [global] = freshSchemas().filter(({ name }) => name === 'global-default');
  if (global === undefined) throw new Error('no global-default');
  const schema = { ...global, name: 'vip', uid: 'vip schema', level: 'vip', precedence: 50 };
  engine.configure([...freshSchemas(), schema], [...freshLevels(), level]);
  const turn = admitted(engine.begin(toRequest({})));
  expect(turn.classification).toEqual({ schemaUid: 'vip schema', levelUid: 'vip level' });
  for (const holder of holders) holder.end();
  clock.advance(0);
  expect((await waiting)?.admitted).toBe(true);

  engine.configure(freshSchemas(), freshLevels());
  expect(engine.levels.get('vip')?.retired).toBe(true);
  turn.end();
  expect(engine.levels.has('vip')).toBe(false);
});

test('metrics count each step, and each beginning has its end', async () => {
  const counts: Record<string, number> = {};
  const note = (name: string) => () => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const flow = new Proxy(NO_METRICS.flow('', ''), { get: (_, name) => note(String(name)) });
  const { engine, clock } = create({ ...SMALL, metrics: { ...NO_METRICS, flow: () => flow } });
  const { holders, waiting } = fill(engine);
  const both = [waiting, Promise.resolve(engine.begin(toRequest({})))];
  holders.shift()?.end();
  clock.advance(0);
  await Promise.race(both);
  clock.advance(20_000);
  for (const turn of await Promise.all(both)) if (turn?.admitted === true) turn.end();
  for (const holder of holders) holder.end();
  const ran = holders.length + 2;
  expect(counts).toEqual({
    estimated: ran + 1,
    enqueued: ran + 1,
    dequeued: ran + 1,
    started: ran,
    dispatched: ran,
    finished: ran,
    released: ran,
    executed: ran,
    waited: ran + 1,
    rejected: 1,
  });
});
