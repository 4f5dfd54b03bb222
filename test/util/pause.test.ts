import { expect, test } from 'vitest';
import { persist, repeat, unlessAborted } from '../../src/util/pause.ts';
import { createReminder, createReminders } from '../../src/util/reminder.ts';

const never = new AbortController().signal;

/** Fails with each error in turn, then answers. */
function failing(errors: readonly unknown[]): () => Promise<string> {
  const left = [...errors];
  return () => (left.length > 0 ? Promise.reject(left.shift()) : Promise.resolve('done'));
}

test('what passes is tried again after pauses that grow up to a bound, half of each left to chance', async () => {
  const pauses: number[] = [];
  const failures: unknown[] = [];
  const chances = [0, 1, 0.5];
  const done = await persist(failing([1, 2, 3, 4, 5, 6, 7, 8]), {
    signal: never,
    isPassing: () => true,
    onFailure: (error) => failures.push(error),
    pause: async (ms) => void pauses.push(ms),
    random: () => chances.shift() ?? 1,
  });
  expect(done).toBe('done');
  expect(failures).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(pauses).toEqual([50, 200, 300, 800, 1600, 3200, 5000, 5000]);
});

test('an error that does not pass is thrown at once', async () => {
  const failures: unknown[] = [];
  const work = persist(failing(['passing', 'lasting']), {
    signal: never,
    isPassing: (error) => error === 'passing',
    onFailure: (error) => failures.push(error),
    pause: () => Promise.resolve(),
  });
  await expect(work).rejects.toBe('lasting');
  expect(failures).toEqual(['passing']);
});

test('a signal ends the waiting, whether for the next attempt or for one that does not answer', async () => {
  const reason = new Error('stop');
  const stop = new AbortController();
  const options = { signal: stop.signal, isPassing: () => true, onFailure: () => stop.abort(reason) };
  await expect(persist(failing([1, 2]), options)).rejects.toBe(reason);
  const other = new AbortController();
  const silent = unlessAborted(() => new Promise(() => {}), other.signal);
  other.abort(reason);
  await expect(silent).rejects.toBe(reason);
  const work = failing([]);
  await expect(unlessAborted(work, other.signal)).rejects.toBe(reason);
});

test('a trouble is reported at once, again after half a minute, and another one soon', () => {
  let now = 0;
  const events: string[] = [];
  const remind = createReminder(
    (trouble) => events.push(`${now} ${trouble}`),
    () => now,
  );
  for (now = 0; now <= 61_000; now += 1000) remind(now < 40_000 ? 'refused' : now % 2000 === 0 ? 'a' : 'b');
  expect(events).toEqual([
    '0 refused',
    '30000 refused',
    '40000 a',
    '45000 b',
    '50000 a',
    '55000 b',
    '60000 a',
  ]);
});

test('each place tells of the same trouble once, and again after half a minute', () => {
  let now = 0;
  const isNews = createReminders(() => now);
  expect(['a', 'a', 'b', 'a', 'b'].map((place) => isNews(place, 'away'))).toEqual([
    true,
    false,
    true,
    false,
    false,
  ]);
  now = 31_000;
  expect(isNews('a', 'away')).toBe(true);
  expect(isNews('a', 'away')).toBe(false);
});

test('repeated work goes on after a failure, and ends with its signal', async () => {
  const stop = new AbortController();
  const events: string[] = [];
  let rounds = 0;
  const work = async (): Promise<void> => {
    rounds += 1;
    events.push(`round ${rounds}`);
    if (rounds === 2) throw new Error('trouble');
    if (rounds === 3) stop.abort();
  };
  const onError = (error: unknown): void => void events.push(String(error));
  await repeat(work, stop.signal, { everyMs: 1, onError });
  expect(events).toEqual(['round 1', 'round 2', 'Error: trouble', 'round 3']);
});

test('repeated work that fails pauses for a time of its own', async () => {
  const stop = new AbortController();
  const failing = async (): Promise<void> => {
    throw new Error('trouble');
  };
  let failures = 0;
  const onError = (): void => {
    failures += 1;
    if (failures === 2) stop.abort();
  };
  await repeat(failing, stop.signal, { everyMs: 1_000_000, retryMs: 1, onError });
  expect(failures).toBe(2);
});
