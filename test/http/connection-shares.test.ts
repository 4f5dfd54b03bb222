import { expect, test } from 'vitest';
import { ConnectionShares } from '../../src/http/connection-shares.ts';

/** The same numbers in each run. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Threads that share a port, and connections that have a request each second and are dealt at random. */
function simulate(options: { threads: number; connections: number; seconds: number; seed: number }) {
  const { threads, connections, seconds, seed } = options;
  const random = randomOf(seed);
  let nowMs = 1_000_000;
  const memory = ConnectionShares.allocate(threads);
  const measures = { nowMs: () => nowMs, utilization: () => 1 };
  const shares = Array.from({ length: threads }, (_, row) => new ConnectionShares(memory, row, measures));
  for (const one of shares) one.begin();
  const deal = () => ({ thread: Math.floor(random() * threads) });
  const open = Array.from({ length: connections }, deal);
  const counts = (): number[] =>
    shares.map((_, thread) => open.filter((one) => one.thread === thread).length);
  const before = Math.max(...counts());
  let moved = 0;
  let movedLate = 0;
  for (let second = 0; second < seconds; second += 1) {
    nowMs += 1000;
    for (const [at, connection] of open.entries())
      if (shares[connection.thread]?.take(connection) === true) {
        open[at] = deal();
        moved += 1;
        if (second > seconds / 2) movedLate += 1;
      }
  }
  return { before, after: Math.max(...counts()), moved, movedLate };
}

test.each([
  [8, 2],
  [8, 3],
  [50, 2],
  [50, 8],
  [1000, 4],
])('%i connections become even in %i threads, and then stay where they are', (connections, threads) => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const { before, after, moved, movedLate } = simulate({ threads, connections, seconds: 120, seed });
    const mean = connections / threads;
    expect(after).toBeLessThanOrEqual(Math.max(Math.ceil(mean * 1.2), Math.floor(mean) + 1));
    expect(movedLate).toBeLessThanOrEqual(5);
    if (before < mean * 1.2) expect(moved).toBe(0);
  }
});

test('quiet connections stay, and a thread that does not serve counts for nothing', () => {
  let nowMs = 1_000_000;
  const memory = ConnectionShares.allocate(2);
  const measures = { nowMs: () => nowMs, utilization: () => 1 };
  const one = new ConnectionShares(memory, 0, measures);
  const other = new ConnectionShares(memory, 1, measures);
  one.begin();
  const connections = Array.from({ length: 6 }, () => ({}));
  const ended = (): number => {
    nowMs += 2000;
    return connections.filter((connection) => one.take(connection)).length;
  };
  expect([ended(), ended(), ended(), ended()]).toEqual([0, 0, 0, 0]);
  other.begin();
  expect(ended()).toBe(3);
  // They are gone before the next count.
  connections.splice(0, 3);
  expect([ended(), ended(), ended()]).toEqual([0, 0, 1]);
  ConnectionShares.forget(memory, 1);
  expect([ended(), ended(), ended(), ended()]).toEqual([0, 0, 0, 0]);
  other.begin();
  nowMs += 10_000;
  // What was counted before a pause says nothing about the time after it.
  expect(connections.filter((connection) => one.take(connection))).toEqual([]);
});

test('connections that come all at once are not sent away by the thread that counts first', () => {
  let nowMs = 1_000_000;
  const memory = ConnectionShares.allocate(2);
  const measures = { nowMs: () => nowMs, utilization: () => 1 };
  const shares = [0, 1].map((row) => new ConnectionShares(memory, row, measures));
  for (const one of shares) one.begin();
  const few = [{}, {}];
  const many = Array.from({ length: 100 }, () => ({}));
  let ended = 0;
  for (let second = 0; second < 20; second += 1) {
    nowMs += 1000;
    const open = second < 9 ? few : [...few, ...many];
    for (const [at, connection] of open.entries()) if (shares[at % 2]?.take(connection) === true) ended += 1;
  }
  expect(ended).toBe(0);
});

test('a thread that is idle half of the time ends no connection, however many more it has', () => {
  let nowMs = 1_000_000;
  let utilization = 0.5;
  const memory = ConnectionShares.allocate(2);
  const measures = { nowMs: () => nowMs, utilization: () => utilization };
  const one = new ConnectionShares(memory, 0, measures);
  const other = new ConnectionShares(memory, 1, measures);
  for (const thread of [one, other]) thread.begin();
  const connections = Array.from({ length: 6 }, () => ({}));
  const ended = (): number => {
    nowMs += 2000;
    return connections.filter((connection) => one.take(connection)).length;
  };
  expect([ended(), ended(), ended(), ended()]).toEqual([0, 0, 0, 0]);
  utilization = 0.6;
  expect(ended()).toBe(3);
});
