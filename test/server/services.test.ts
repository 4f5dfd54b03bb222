import { expect, test } from 'vitest';
import { Services } from '../../src/server/services.ts';
import { aborted } from '../../src/util/pause.ts';

/** A clock that only the test moves, so that pauses last as long as the test says. */
class Bench {
  readonly logged: string[] = [];
  readonly pauses: number[] = [];
  readonly services: Services;
  nowMs = 0;
  /** How long the service runs before the next failure counts as later. */
  #paused: { resolve: () => void } | undefined;
  #onPause: (() => void) | undefined;

  constructor({ random = 0 } = {}) {
    this.services = new Services({
      logger: { error: (message) => this.logged.push(message), info: () => {}, warn: () => {} },
      isOutage: (error) => error instanceof Error && error.message === 'away',
      now: () => this.nowMs,
      random: () => random,
      pause: (ms, signal) => {
        this.pauses.push(ms);
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#paused = { resolve };
        void aborted(signal).then(resolve);
        this.#onPause?.();
        return promise;
      },
    });
  }

  /** Until a service waits before it begins again. */
  async paused(): Promise<void> {
    if (this.#paused === undefined) {
      await new Promise<void>((resolve) => {
        this.#onPause = resolve;
      });
    }
  }

  /** The pause of the service that waits is over. */
  wake(): void {
    const { resolve } = this.#paused ?? { resolve: () => {} };
    this.#paused = undefined;
    this.nowMs += this.pauses.at(-1) ?? 0;
    resolve();
  }

  /** What /readyz would say of the services. */
  get unready(): string[] {
    return this.services.checks().flatMap(({ name, check }) => {
      try {
        check();
        return [];
      } catch {
        return [name];
      }
    });
  }
}

const run = async (signal: AbortSignal, works: () => void): Promise<void> => {
  works();
  await aborted(signal);
};

test('an essential service makes the server ready when it works, and not before', async () => {
  const { services, ...bench } = new Bench();
  const loaded = Promise.withResolvers<void>();
  services.start('tail', 'essential', async (signal, works) => {
    await loaded.promise;
    await run(signal, works);
  });
  services.start('sweeping', 'upkeep', run);
  const [check, ...others] = services.checks();
  expect(others).toEqual([]);
  expect(check?.name).toBe('tail');
  expect(check?.endpoints).toEqual(['readyz']);
  expect(() => check?.check()).toThrow('does not work');
  loaded.resolve();
  await new Promise(setImmediate);
  expect(() => check?.check()).not.toThrow();
  await services.stop();
  expect(bench.logged).toEqual([]);
});

for (const [how, end] of [
  ['throws', () => Promise.reject(new Error('broken'))],
  ['returns', () => Promise.resolve()],
] as const) {
  test(`a service that ${how} makes the server unready until it works again`, async () => {
    const bench = new Bench();
    const runs: string[] = [];
    const first = Promise.withResolvers<void>();
    bench.services.start('tail', 'essential', async (signal, works) => {
      runs.push('begun');
      if (runs.length > 1) return run(signal, works);
      works();
      await first.promise;
      return end();
    });
    expect(bench.unready).toEqual([]);
    first.resolve();
    await bench.paused();
    expect(bench.unready).toEqual(['tail']);
    expect(bench.logged).toEqual(['tail failed and begins again in 0.5s']);
    bench.wake();
    await new Promise(setImmediate);
    expect(runs).toEqual(['begun', 'begun']);
    expect(bench.unready).toEqual([]);
    await bench.services.stop();
  });
}

test('the pauses grow, each with a jitter of up to half of it', async () => {
  const bench = new Bench({ random: 1 });
  bench.services.start('sweeping', 'upkeep', () => Promise.reject(new Error('broken')));
  for (let times = 0; times < 7; times += 1) {
    await bench.paused();
    bench.wake();
  }
  await bench.paused();
  expect(bench.pauses).toEqual([750, 1500, 3000, 6000, 12_000, 15_000, 15_000, 15_000]);
  await bench.services.stop();
});

test('the end of an outage is noticed within five seconds', async () => {
  const bench = new Bench({ random: 1 });
  bench.services.start('watch-cache', 'essential', () => Promise.reject(new Error('away')));
  for (let times = 0; times < 5; times += 1) {
    await bench.paused();
    bench.wake();
  }
  await bench.paused();
  expect(bench.pauses).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
  await bench.services.stop();
});

test('an essential service that fails five times within a minute ends the server, with its name and the reason', async () => {
  const bench = new Bench();
  let runs = 0;
  bench.services.start('tail', 'essential', () => {
    runs += 1;
    return Promise.reject(new Error(`broken for the ${runs}. time`));
  });
  const ended = bench.services.until(new Promise(() => {}));
  for (let times = 0; times < 4; times += 1) {
    await bench.paused();
    bench.wake();
  }
  await expect(ended).rejects.toThrow('tail failed 5 times within 60s, at last with: broken for the 5. time');
  expect(runs).toBe(5);
  expect(bench.unready).toEqual(['tail']);
  await bench.services.stop();
});

test('failures further apart than a minute are not added up', async () => {
  const bench = new Bench();
  let failed = false;
  bench.services.failed.catch(() => {
    failed = true;
  });
  bench.services.start('tail', 'essential', () => Promise.reject(new Error('broken')));
  for (let times = 0; times < 20; times += 1) {
    await bench.paused();
    bench.nowMs += 20_000;
    bench.wake();
  }
  await bench.paused();
  expect(bench.pauses).toHaveLength(21);
  expect(failed).toBe(false);
  await bench.services.stop();
});

test('upkeep is begun again for ever, and an outage of the database never ends the server', async () => {
  for (const [role, message] of [
    ['upkeep', 'broken'],
    ['essential', 'away'],
  ] as const) {
    const bench = new Bench();
    let failed = false;
    bench.services.failed.catch(() => {
      failed = true;
    });
    bench.services.start('it', role, () => Promise.reject(new Error(message)));
    for (let times = 0; times < 50; times += 1) {
      await bench.paused();
      bench.wake();
    }
    await bench.paused();
    expect(bench.pauses).toHaveLength(51);
    expect(failed).toBe(false);
    await bench.services.stop();
  }
});

test('what a run that is over says late does not make the server ready', async () => {
  const bench = new Bench();
  let sayItWorks = (): void => {};
  bench.services.start('tail', 'essential', (_, works) => {
    sayItWorks = works;
    return Promise.reject(new Error('broken'));
  });
  await bench.paused();
  sayItWorks();
  expect(bench.unready).toEqual(['tail']);
  await bench.services.stop();
});

test('services are stopped last first, each after those that were begun later have ended', async () => {
  const { services } = new Bench();
  const events: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    services.start(name, 'upkeep', async (signal) => {
      await aborted(signal);
      events.push(`${name} stops`);
      await new Promise(setImmediate);
      events.push(`${name} has ended`);
    });
  }
  await services.stop();
  expect(events).toEqual(
    ['third', 'second', 'first'].flatMap((name) => [`${name} stops`, `${name} has ended`]),
  );
});

test('a service that waits to begin again ends at once when it is stopped', async () => {
  const bench = new Bench();
  bench.services.start('tail', 'essential', () => Promise.reject(new Error('broken')));
  await bench.paused();
  await bench.services.stop();
  expect(bench.pauses).toHaveLength(1);
});
