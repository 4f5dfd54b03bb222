import { expect, vi } from 'vitest';
import type { Revision } from '../../../src/storage/revision.ts';
import { WatchCache } from '../../../src/storage/watch-cache/watch-cache.ts';
import { CONFIG_MAPS, Reader, readWatch } from '../watch-cache/kit.ts';
import { openLog, type PostgresOptions, write } from './kit.ts';

const PATIENCE = { timeout: 60_000, interval: 20 };
export const LATEST = { resource: CONFIG_MAPS, scope: {}, freshness: { kind: 'latest' }, limit: 0 } as const;

/** A server's storage: the cache over the log. */
export async function startServer(urls: readonly string[], options: Partial<PostgresOptions> = {}) {
  const log = openLog(urls[0] ?? '', { urls, ...options });
  const cache = new WatchCache({ ...log, fieldsOf: () => () => ({}) });
  const stop = new AbortController();
  const running = Promise.all([cache.run(stop.signal), log.guard.run(stop.signal)]);
  await cache.ready();
  await vi.waitFor(() => expect(log.feed.state.mode).toBe('streaming'), PATIENCE);
  return {
    log,
    cache,
    watchFrom: (revision: Revision) =>
      readWatch(cache, { reader: new Reader(), start: { kind: 'after', revision } }, stop.signal),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await log.close();
    },
  };
}

export type Server = Awaited<ReturnType<typeof startServer>>;

export async function writeMany({ cache }: Server, prefix: string, count: number): Promise<Revision[]> {
  const revisions = [];
  for (let n = 0; n < count; n += 1) revisions.push(await cache.commit(write('create', `${prefix}-${n}`)));
  return revisions;
}

/** As soon as the database answers again. */
export async function listNames({ cache }: Server): Promise<string[]> {
  const page = await vi.waitFor(() => cache.list(LATEST), PATIENCE);
  return page.entries.map(({ name }) => name);
}
