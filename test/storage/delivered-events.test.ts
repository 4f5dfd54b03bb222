import { expect, test } from 'vitest';
import { DeliveredEvents } from '../../src/storage/delivered-events.ts';
import { NO_REVISION, toRevision } from '../../src/storage/revision.ts';
import type { Bookmark, TakeEvent } from '../../src/storage/store.ts';
import { aborted } from '../../src/util/aborted.ts';

const at = (revision: number): Bookmark => ({ type: 'BOOKMARK', revision: toRevision(revision) });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A watch whose events the test delivers. */
function startWatch() {
  const stop = new AbortController();
  const over = Promise.withResolvers<void>();
  let take: TakeEvent = () => undefined;
  let isLeft = false;
  const events = new DeliveredEvents(async (given, signal) => {
    take = given;
    await Promise.race([over.promise, aborted(signal)]);
    isLeft = true;
  }, stop.signal);
  return { events, stop, fail: over.reject, give: (n: number) => take(at(n)), isLeft: () => isLeft };
}

test('an iteration gets what has come since the last one in one batch, in order', async () => {
  const { events, give, stop } = startWatch();
  const iterator = events[Symbol.asyncIterator]();
  const first = iterator.next();
  await turn();
  for (const n of [1, 2]) give(n);
  expect((await first).value).toEqual([at(1), at(2)]);
  for (const n of [3, 4, 5]) give(n);
  expect((await iterator.next()).value).toEqual([at(3), at(4), at(5)]);
  stop.abort();
  expect(await iterator.next()).toEqual({ done: true, value: undefined });
});

test('an iteration that is left ends the watch, and one that fails says why after what had come', async () => {
  const left = startWatch();
  const leaving = (async () => {
    for await (const _ of left.events) break;
  })();
  await turn();
  left.give(1);
  await leaving;
  expect(left.isLeft()).toBe(true);

  const failing = startWatch();
  const iterator = failing.events[Symbol.asyncIterator]();
  const first = iterator.next();
  await turn();
  failing.give(1);
  failing.fail(new Error('history is gone'));
  expect((await first).value).toEqual([at(1)]);
  await expect(iterator.next()).rejects.toThrow('history is gone');
});

test('an iteration that asks for nothing has the store wait, until it asks again', async () => {
  const { events, give, stop } = startWatch();
  const iterator = events[Symbol.asyncIterator]();
  const first = iterator.next();
  await turn();
  give(0);
  await first;
  let room: Promise<void> | undefined;
  let given = 0;
  for (; room === undefined && given < 100_000; given += 1) room = give(given);
  expect(given).toBeLessThan(5000);
  let isRoom = false;
  void room?.then(() => {
    isRoom = true;
  });
  await turn();
  expect(isRoom).toBe(false);
  expect((await iterator.next()).value).toHaveLength(given);
  await turn();
  expect(isRoom).toBe(true);
  expect(give(Number(NO_REVISION))).toBeUndefined();
  stop.abort();
});
