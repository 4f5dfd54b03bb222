import { expect, test } from 'vitest';
import { BatchingSink, Throttle } from '../../src/audit/sink.ts';
import { Losses, ManualClock, MemorySink, makeRecord, settle } from './kit.ts';

type BatchOptions = ConstructorParameters<typeof BatchingSink>[1];

function start(options: Partial<BatchOptions> = {}) {
  const clock = new ManualClock();
  const sink = new MemorySink();
  const losses = new Losses();
  const batching = new BatchingSink(sink, {
    bufferSize: 100,
    maxBatchSize: 3,
    maxBatchWaitMs: 1000,
    concurrency: 1,
    clock,
    report: losses.report,
    ...options,
  });
  const put = (...ids: string[]): boolean => batching.process(ids.map((id) => makeRecord(id)));
  return { clock, sink, losses, batching, put };
}

test('a full batch goes at once, a short one when its first event has waited long enough', async () => {
  const { clock, sink, put } = start();
  put('a', 'b', 'c', 'd');
  await settle();
  expect(sink.batches).toEqual([['a', 'b', 'c']]);
  await clock.advance(600);
  put('e');
  await clock.advance(399);
  expect(sink.batches).toHaveLength(1);
  await clock.advance(1);
  expect(sink.batches).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e'],
  ]);
});

test('the wait begins anew with the first event after a batch', async () => {
  const { clock, sink, put } = start();
  put('a');
  await clock.advance(1000);
  await clock.advance(5000);
  put('b');
  await clock.advance(999);
  expect(sink.batches).toEqual([['a']]);
  await clock.advance(1);
  expect(sink.batches).toEqual([['a'], ['b']]);
});

test('no request waits for a slow back end: events gather, and those beyond the buffer are lost and counted', async () => {
  const { sink, losses, put } = start({ bufferSize: 4, maxBatchSize: 1 });
  const slow = Promise.withResolvers<boolean>();
  sink.gate = slow.promise;
  expect(put('a')).toBe(true);
  await settle();
  put('b', 'c', 'd', 'e', 'f');
  put('g');
  await settle();
  expect(sink.batches).toEqual([['a']]);
  expect(losses.lost).toEqual([
    { part: 'buffered', ids: ['f'], error: 'Error: audit buffer queue blocked' },
    { part: 'buffered', ids: ['g'], error: 'Error: audit buffer queue blocked' },
  ]);
  slow.resolve(true);
  await settle();
  expect(sink.batches.flat()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('so many batches are under way at once and no more', async () => {
  const { sink, put } = start({ maxBatchSize: 1, concurrency: 2 });
  const slow = Promise.withResolvers<boolean>();
  sink.gate = slow.promise;
  put('a', 'b', 'c', 'd');
  await settle();
  expect(sink.batches).toEqual([['a'], ['b']]);
  slow.resolve(false);
  await settle();
  expect(sink.batches.flat()).toEqual(['a', 'b', 'c', 'd']);
});

test('throttled batches come in a burst and then at their rate', async () => {
  const { clock, sink, put } = start({ maxBatchSize: 1, throttle: { perSecond: 10, burst: 2 } });
  put('a', 'b', 'c', 'd');
  await clock.advance(0);
  expect(sink.batches).toHaveLength(2);
  await clock.advance(99);
  expect(sink.batches).toHaveLength(2);
  await clock.advance(1);
  expect(sink.batches).toHaveLength(3);
  await clock.advance(100);
  expect(sink.batches).toHaveLength(4);
});

test('a bucket fills no further than its burst', () => {
  let now = 0;
  const throttle = new Throttle({ perSecond: 1, burst: 2, now: () => now });
  now = 60_000;
  expect([throttle.take(), throttle.take(), throttle.take(), throttle.take()]).toEqual([0, 0, 1000, 2000]);
});

test('closing sends what is left without throttling, then closes the back end; later events are lost', async () => {
  const { sink, losses, batching, put } = start({ throttle: { perSecond: 0.001, burst: 1 } });
  put('a', 'b', 'c', 'd', 'e', 'f', 'g');
  await settle();
  await batching.close();
  expect(sink.batches).toEqual([['a', 'b', 'c'], ['d', 'e', 'f'], ['g']]);
  expect(sink.closed).toBe(true);
  put('h');
  expect(losses.lost).toEqual([{ part: 'buffered', ids: ['h'], error: 'Error: audit backend shut down' }]);
});
