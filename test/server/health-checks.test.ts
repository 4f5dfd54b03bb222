import { expect, test } from 'vitest';
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

test('informers are in sync when objects are loaded and the log is followed, by polling too', () => {
  const state: { loaded: boolean; mode: 'starting' | 'polling' } = { loaded: false, mode: 'starting' };
  const { kubernetes } = createCacheChecks({ feed: { state } }, { state });
  const [inSync] = kubernetes;
  expect(() => inSync?.check()).toThrow('not loaded');
  state.loaded = true;
  expect(() => inSync?.check()).toThrow('the tail has not begun');
  state.mode = 'polling';
  expect(() => inSync?.check()).not.toThrow();
});
