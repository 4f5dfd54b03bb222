import { expect, test } from 'vitest';
import type { HealthCheck } from '../../src/diagnostics/health-pages.ts';
import { createBaseChecks, createCacheChecks } from '../../src/server/health-checks.ts';

const TIMEOUTS = { healthTimeoutMs: 2000, readyTimeoutMs: 1000 };
const well = { ping: () => Promise.resolve() };

test('checks that ask the database the same at the same time ask once', async () => {
  const asked: number[] = [];
  const ping = (timeoutMs: number): Promise<void> => {
    asked.push(timeoutMs);
    return Promise.resolve();
  };
  const { kubernetes, own } = createBaseChecks({ ping }, { written: () => Promise.resolve() }, TIMEOUTS);
  const all = [...kubernetes, ...own];
  await Promise.all(all.map(({ check }) => check()));
  expect(asked).toEqual([2000, 1000]);
  await Promise.all(all.map(({ check }) => check()));
  expect(asked).toHaveLength(4);
});

test('a log that cannot be written is a fault, and one that is not written in time is one too', async () => {
  const logCheck = (written: () => Promise<void>) =>
    createBaseChecks(well, { written }, TIMEOUTS).kubernetes.find(({ name }) => name === 'log');
  await expect(logCheck(() => Promise.resolve())?.check()).resolves.toBeUndefined();
  await expect(logCheck(() => Promise.reject(new Error('EPIPE')))?.check()).rejects.toThrow('EPIPE');
  await expect(logCheck(() => new Promise(() => {}))?.check()).rejects.toThrow('logging blocked');
});

const none = () => ({ servers: [], answeredByPrimary: 0 });

test('informers are in sync when the cache works and the log is followed, by polling too', async () => {
  const state: {
    mode: 'starting' | 'polling' | 'streaming';
    stalled: string | undefined;
    source: string | undefined;
    behindMs: number;
    remedy: string | undefined;
  } = { mode: 'starting', stalled: undefined, source: undefined, behindMs: 0, remedy: undefined };
  let works = false;
  const cache: HealthCheck = {
    name: 'watch-cache',
    endpoints: ['readyz'],
    check: () => {
      if (!works) throw new Error('not loaded');
    },
  };
  const database = { guard: { trouble: undefined }, readServers: none };
  const [inSync] = createCacheChecks({ ...database, feed: { state } }, [cache]).kubernetes;
  await expect(inSync?.check()).rejects.toThrow('not loaded');
  works = true;
  await expect(inSync?.check()).rejects.toThrow('the tail has not begun');
  const [tail] = createCacheChecks({ ...database, feed: { state } }, [cache]).own;
  expect(tail?.note?.()).toBeUndefined();
  state.mode = 'polling';
  await expect(inSync?.check()).resolves.toBeUndefined();
  expect(tail?.note?.()).toBe('changes are polled, because they cannot be streamed');
  state.remedy = 'CREATE PUBLICATION p';
  expect(tail?.note?.()).toBe(
    'changes are polled, because they cannot be streamed; mended by: CREATE PUBLICATION p',
  );
  Object.assign(state, { mode: 'streaming', source: 'primary', behindMs: 10_001 });
  await expect(inSync?.check()).rejects.toThrow('changes do not arrive: none for 10 s, and there are some');
  state.behindMs = 9999;
  await expect(inSync?.check()).resolves.toBeUndefined();
  expect(tail?.note?.()).toBeUndefined();
  state.source = 'db2:5432';
  expect(tail?.note?.()).toBe('a read server streams changes, because the primary does not');
  state.stalled = 'no connection';
  await expect(inSync?.check()).rejects.toThrow('changes do not arrive: no connection');
});

test('read servers that are all out of service are reported, without their addresses, and readiness stays', async () => {
  const servers = ['db2:5432', 'db3:5432'].map((name) => ({ name, isInService: true, answered: 0 }));
  const database = {
    feed: {
      state: {
        mode: 'streaming',
        stalled: undefined,
        source: 'primary',
        behindMs: 0,
        remedy: undefined,
      } as const,
    },
    guard: { trouble: undefined },
    readServers: () => ({ servers, answeredByPrimary: 0 }),
  };
  const find = () => createCacheChecks(database, []).own.find(({ name }) => name === 'read-servers');
  expect(find()?.note?.()).toBe('2 of 2 read servers are in service');
  for (const server of servers) server.isInService = false;
  expect(find()?.note?.()).toBe('no read server is in service: the primary serves history');
  expect(() => find()?.check()).not.toThrow();
  expect(createCacheChecks({ ...database, readServers: none }, []).own.map(({ name }) => name)).not.toContain(
    'read-servers',
  );
});

test('a primary that standbys confirm nothing to makes the server unready', () => {
  const guard: { trouble: string | undefined } = { trouble: undefined };
  const state = {
    mode: 'streaming',
    stalled: undefined,
    source: 'primary',
    behindMs: 0,
    remedy: undefined,
  } as const;
  const database = { guard, feed: { state }, readServers: none };
  const primary = createCacheChecks(database, []).own.find(({ name }) => name === 'primary');
  expect(() => primary?.check()).not.toThrow();
  guard.trouble = 'standbys are silent';
  expect(() => primary?.check()).toThrow('writes and consistent reads are refused: standbys are silent');
});
