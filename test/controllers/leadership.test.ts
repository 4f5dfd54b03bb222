import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Leadership } from '../../src/controllers/leadership.ts';
import { aborted } from '../../src/util/pause.ts';
import { MemoryWorkLeases } from '../kit/work-leases.ts';

/** As the promises in the code name them. */
const LEASE_MS = 15_000;
const DEADLINE_MS = 10_000;
const ROUND_MS = 2000;

/** Servers that seek the lease of one piece of work, and what they do: `a+` begins it, `a-` has ended it. */
class Servers {
  readonly said: string[] = [];
  readonly errors: string[] = [];
  isDoneElsewhere = false;
  readonly #stops = new Map<string, () => Promise<void>>();

  start(name: string, leases = new MemoryWorkLeases(), work = aborted): void {
    const leadership = new Leadership({
      ...{ leases, work: 'upkeep', server: name },
      isDoneElsewhere: async () => this.isDoneElsewhere,
      now: () => performance.now(),
      onChange: () => {},
      onError: (error) => this.errors.push(String(error)),
    });
    const lease = new AbortController();
    const service = new AbortController();
    const leading = leadership.run(lease.signal);
    const working = leadership.whileLeading(service.signal, async (turn) => {
      this.said.push(`${name}+`);
      await work(turn);
      this.said.push(`${name}-`);
    });
    this.#stops.set(name, async () => {
      service.abort();
      await working;
      lease.abort();
      await leading;
    });
  }

  async stop(name: string): Promise<void> {
    await this.#stops.get(name)?.();
    this.#stops.delete(name);
  }

  async stopAll(): Promise<void> {
    for (const name of [...this.#stops.keys()]) await this.stop(name);
  }
}

let leases: MemoryWorkLeases;
let servers: Servers;
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  leases = new MemoryWorkLeases();
  servers = new Servers();
});

afterEach(async () => {
  await servers.stopAll();
  vi.useRealTimers();
});

test('of several servers one works, for as long as it lives', async () => {
  servers.start('a', leases);
  servers.start('b', leases);
  await pass(10 * LEASE_MS);
  expect(servers.said).toEqual(['a+']);
});

test('a server that ends has ended its work before it leaves the lease, and another begins in the next round', async () => {
  servers.start('a', leases);
  servers.start('b', leases);
  await pass(LEASE_MS);
  await servers.stop('a');
  expect(leases.rows.get('upkeep')?.holder).toBe('');
  await pass(ROUND_MS);
  expect(servers.said).toEqual(['a+', 'a-', 'b+']);
});

test('work that takes long to end is waited for before another server may have it', async () => {
  const slow = Promise.withResolvers<void>();
  servers.start('a', leases, () => slow.promise);
  servers.start('b', leases);
  await pass(ROUND_MS);
  servers.isDoneElsewhere = true;
  await pass(2 * ROUND_MS);
  servers.isDoneElsewhere = false;
  await pass(2 * ROUND_MS);
  expect(servers.said).toEqual(['a+']);
  expect(leases.rows.get('upkeep')?.holder).toMatch(/^a_/);
  slow.resolve();
  await pass(ROUND_MS);
  expect(servers.said.slice(0, 2)).toEqual(['a+', 'a-']);
  expect(leases.rows.get('upkeep')?.holder).toMatch(/^b_/);
});

test('a server that dies is replaced when its lease has not changed for its whole time, and no sooner', async () => {
  // It took the lease and never says anything again.
  await leases.take('upkeep', 'dead', undefined);
  servers.start('b', leases);
  await pass(LEASE_MS - 1);
  expect(servers.said).toEqual([]);
  await pass(ROUND_MS);
  expect(servers.said).toEqual(['b+']);
});

test('a lease that is renewed is not taken, with any time of its clock', async () => {
  await leases.take('upkeep', 'other', undefined);
  servers.start('b', leases);
  for (let time = 0; time < 10; time += 1) {
    await pass(LEASE_MS - ROUND_MS);
    await leases.renew('upkeep', 'other');
  }
  expect(servers.said).toEqual([]);
});

test('a server that cannot renew stops before its lease can be another’s', async () => {
  const own = new MemoryWorkLeases();
  servers.start('a', own);
  await pass(ROUND_MS);
  own.trouble = new Error('away');
  await pass(DEADLINE_MS);
  expect(servers.said).toEqual(['a+', 'a-']);
  expect(DEADLINE_MS).toBeLessThan(LEASE_MS);
  // Its own name may still be in the lease; it waits as for a lease of another.
  own.trouble = undefined;
  await pass(LEASE_MS - 1);
  expect(servers.said).toEqual(['a+', 'a-']);
  await pass(2 * ROUND_MS);
  expect(servers.said).toEqual(['a+', 'a-', 'a+']);
});

test('a server that finds the lease with another stops at once', async () => {
  servers.start('a', leases);
  await pass(ROUND_MS);
  await leases.take('upkeep', 'other', leases.rows.get('upkeep'));
  await pass(2 * ROUND_MS);
  expect(servers.said).toEqual(['a+', 'a-']);
  expect(leases.rows.get('upkeep')?.holder).toBe('other');
});

test('a lease of an earlier tenure, brought back by a promotion of the database, gives no server the right to work', async () => {
  servers.start('a', leases);
  await pass(ROUND_MS);
  const earlier = leases.rows.get('upkeep');
  await servers.stop('a');
  leases.rows.set('upkeep', earlier ?? { holder: '', renewals: 0n });
  servers.start('a', leases);
  await pass(LEASE_MS - 1);
  expect(servers.said).toEqual(['a+', 'a-']);
});

test('while the work is done elsewhere no server does it, and the lease is free', async () => {
  servers.start('a', leases);
  await pass(ROUND_MS);
  servers.isDoneElsewhere = true;
  await pass(ROUND_MS);
  expect(servers.said).toEqual(['a+', 'a-']);
  expect(leases.rows.get('upkeep')?.holder).toBe('');
  await pass(LEASE_MS);
  servers.isDoneElsewhere = false;
  await pass(ROUND_MS);
  expect(servers.said).toEqual(['a+', 'a-', 'a+']);
});

test('work that ends by itself is done once in a tenure', async () => {
  servers.start('a', leases, async () => {});
  await pass(LEASE_MS);
  expect(servers.said).toEqual(['a+', 'a-']);
});
