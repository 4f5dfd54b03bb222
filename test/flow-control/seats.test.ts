import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { SeatCounters } from '../../src/flow-control/queueing/seats.ts';

/** The main thread and two others, all in this one. */
function threeRows() {
  const memory = SeatCounters.allocate(2);
  const freed: number[] = [];
  const main = new SeatCounters(memory, 0);
  const others = [1, 2].map((row) => new SeatCounters(memory, row, (slot) => freed.push(slot)));
  const level = main.open('it');
  level.limit = 5;
  for (const other of others) other.know(main.slots);
  const [one, two] = others.map((other) => other.open('it'));
  if (one === undefined || two === undefined) throw new Error('a row is missing');
  return { main, others, level, one, two, freed };
}

test('seats of a level are one pool for all threads', () => {
  const { level, one, two } = threeRows();
  expect([one.take(2), two.take(2), level.take(2), level.take(1), one.take(1)]).toEqual([
    ...[true, true, false],
    ...[true, false],
  ]);
  expect([level.inUse, level.requests]).toEqual([5, 3]);
  one.finished();
  one.giveBack(2);
  expect(two.take(2)).toBe(true);
  expect(level.takeHighest()).toBe(5);
  expect(level.takeHighest()).toBe(0);
});

test('a request that is wider than its level gets seats when no thread has any', () => {
  const { one, two } = threeRows();
  expect(one.take(1)).toBe(true);
  expect(two.take(7)).toBe(false);
  one.giveBack(1);
  expect(two.take(7)).toBe(true);
  expect(one.take(1)).toBe(false);
});

test('the main thread hears of free seats while requests wait, and of no others', () => {
  const { level, one, freed } = threeRows();
  expect(one.take(2)).toBe(true);
  one.giveBack(1);
  expect(freed).toEqual([]);
  level.waiting = 1;
  one.giveBack(1);
  expect(freed).toEqual([level.slot]);
});

test('the seats of a thread that died are free, and those of others are not', () => {
  const { main, level, one, two } = threeRows();
  one.take(3);
  two.take(1);
  main.clear(1);
  expect([level.inUse, level.requests]).toEqual([1, 1]);
});

test('a level that another thread does not know has no seats there, and a place is used again', () => {
  const { main, others, level } = threeRows();
  main.close('it');
  const next = main.open('next');
  expect(next.slot).toBe(level.slot);
  expect(next.limit).toBe(0);
  next.limit = 3;
  const [other] = others;
  expect(other?.open('next').waiting).toBeGreaterThan(0);
  other?.know(main.slots);
  expect(other?.open('next').take(1)).toBe(true);
  expect(next.inUse).toBe(1);
});

test('a level beyond the last place has seats of its own in the main thread', () => {
  const main = new SeatCounters(SeatCounters.allocate(1), 0);
  const levels = Array.from({ length: 300 }, (_, at) => main.open(`level ${at}`));
  for (const level of levels) level.limit = 1;
  expect(levels.map((level) => level.take(1))).toEqual(levels.map(() => true));
  expect(levels.map((level) => level.take(1))).toEqual(levels.map(() => false));
  expect(main.open('level 299')).toBe(levels[299]);
  expect(main.slots.size).toBeLessThan(300);
});

test('threads that take and give back at the same time never hold more than the level has', async () => {
  const memory = SeatCounters.allocate(3);
  const level = new SeatCounters(memory, 0).open('it');
  level.limit = 3;
  const held = new SharedArrayBuffer(8);
  const entry = fileURLToPath(new URL('../kit/seat-taker.ts', import.meta.url));
  const workers = [1, 2, 3].map(
    (row) => new Worker(entry, { workerData: { memory, held, row, rounds: 20_000 } }),
  );
  const ended = await Promise.all(workers.map((worker) => once(worker, 'exit')));
  expect(ended).toEqual([[0], [0], [0]]);
  const [left, most] = new Int32Array(held);
  expect(left).toBe(0);
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(3);
  expect([level.inUse, level.requests]).toEqual([0, 0]);
});
