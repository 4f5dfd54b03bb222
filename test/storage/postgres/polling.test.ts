import { expect, onTestFinished, test, vi } from 'vitest';
import { Condition } from '../../../src/storage/postgres/connection/condition.ts';
import { PostgresFeed } from '../../../src/storage/postgres/feed/feed.ts';
import { KnownHistory } from '../../../src/storage/postgres/fencing/known-history.ts';
import type { PostgresReader, TailPage } from '../../../src/storage/postgres/read/reader.ts';
import { NO_REVISION } from '../../../src/storage/revision.ts';
import { Recorder } from './kit.ts';

/** A feed that waits for its slot for ever, and the polls it makes meanwhile, by a clock that the test moves. */
function pollingFeed() {
  vi.useFakeTimers();
  const polls: ((page: TailPage) => void)[] = [];
  const tailPage = () => new Promise<TailPage>((resolve) => polls.push(resolve));
  const history = new KnownHistory();
  const feed = new PostgresFeed({
    reader: { tailPage } as Partial<PostgresReader> as PostgresReader,
    sources: {
      primary: {
        name: 'primary',
        isStandby: false,
        clientConfig: () => new Promise(() => {}),
        check: async () => {},
      },
      standbys: () => [],
    },
    condition: new Condition('the stream of changes', () => {}),
    history,
    schema: undefined,
    bell: { isHeard: false, run: async () => {} },
    tell: () => {},
  });
  const stop = new AbortController();
  void feed.run(NO_REVISION, new Recorder(), stop.signal);
  onTestFinished(() => {
    stop.abort();
    vi.useRealTimers();
  });
  const empty: TailPage = { changes: [], compacted: NO_REVISION, epoch: NO_REVISION, writeId: undefined };
  return { feed, polls, answer: () => polls.at(-1)?.(empty) };
}

test('while changes are polled, a waiting reader does not wait for the next poll', async () => {
  const { feed, polls, answer } = pollingFeed();
  await vi.advanceTimersByTimeAsync(250);
  expect(polls).toHaveLength(1);
  answer();
  await vi.advanceTimersByTimeAsync(200);
  expect(polls).toHaveLength(1);
  feed.hurry();
  await vi.advanceTimersByTimeAsync(0);
  expect(polls).toHaveLength(2);
  answer();
  await vi.advanceTimersByTimeAsync(249);
  expect(polls).toHaveLength(2);
});

test('a poll that was under way may have missed it, so that another one follows soon; however many wait, polls keep a distance', async () => {
  const { feed, polls, answer } = pollingFeed();
  await vi.advanceTimersByTimeAsync(250);
  feed.hurry();
  answer();
  await vi.advanceTimersByTimeAsync(4);
  for (let n = 0; n < 100; n += 1) feed.hurry();
  expect(polls).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(polls).toHaveLength(2);
});

test('while changes are polled, a read that waits from the start on is not kept waiting for the first poll', async () => {
  const { feed, polls } = pollingFeed();
  feed.hurry();
  await vi.advanceTimersByTimeAsync(0);
  expect(polls).toHaveLength(1);
});
