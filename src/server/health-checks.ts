import type { HealthCheck } from '../diagnostics/health.ts';
import type { LogControl } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';
import type { FeedState } from '../storage/postgres/feed.ts';
import type { PostgresLog } from '../storage/postgres/postgres.ts';

const EVERYWHERE = ['healthz', 'livez', 'readyz'] as const;
const READYZ = ['readyz'] as const;

/** Log lines that cannot be written for that long are lost to whoever needs them. */
const LOG_TIMEOUT_MS = 2000;

/** Checks by the names Kubernetes gives them, which come first where all are listed, and by names of ours. */
export interface NamedChecks {
  readonly kubernetes: readonly HealthCheck[];
  readonly own: readonly HealthCheck[];
}

/** What is asked of every server at any time, its start included. */
export function createBaseChecks(
  postgres: Pick<PostgresLog, 'ping'>,
  logger: Pick<LogControl, 'written'>,
  { healthTimeoutMs, readyTimeoutMs }: Pick<ServerOptions, 'healthTimeoutMs' | 'readyTimeoutMs'>,
): NamedChecks {
  const healthy = shared(() => pingDatabase(postgres, healthTimeoutMs));
  const ready = shared(() => pingDatabase(postgres, readyTimeoutMs));
  return {
    kubernetes: [
      // That it is answered at all is what it says.
      { name: 'ping', endpoints: EVERYWHERE, check: () => {} },
      { name: 'log', endpoints: EVERYWHERE, check: () => assertLogged(logger) },
      { name: 'etcd', endpoints: EVERYWHERE, check: healthy },
      { name: 'etcd-readiness', endpoints: READYZ, check: ready },
    ],
    own: [
      { name: 'postgres', endpoints: ['healthz', 'livez'], check: healthy },
      { name: 'postgres-readiness', endpoints: READYZ, check: ready },
    ],
  };
}

/** Whether what is served is what the database has. `services`: those that requests are served wrongly without. */
export function createCacheChecks(
  postgres: { readonly feed: { readonly state: Pick<FeedState, 'mode' | 'stalled'> } },
  services: readonly HealthCheck[],
): NamedChecks {
  const cache = services.filter(({ name }) => name === 'watch-cache');
  // Polling is slower, not wrong: it is told and does not take the server out of service.
  const assertFollowed = (): void => {
    const { mode, stalled } = postgres.feed.state;
    if (mode === 'starting') throw new Error('the tail has not begun');
    if (stalled !== undefined) throw new Error(`changes do not arrive: ${stalled}`);
  };
  const note = (): string | undefined =>
    postgres.feed.state.mode === 'polling'
      ? 'changes are polled, because they cannot be streamed'
      : undefined;
  return {
    kubernetes: [
      {
        name: 'informer-sync',
        endpoints: READYZ,
        check: async () => {
          for (const { check } of cache) await check();
          assertFollowed();
        },
      },
    ],
    own: [{ name: 'tail', endpoints: READYZ, check: assertFollowed, note }, ...services],
  };
}

/** One question to the database for all checks, and all callers, that ask at the same time. */
function shared(check: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return () => {
    underWay ??= check().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** What the driver says has the database's address in it, which is for the log alone. */
async function pingDatabase(postgres: Pick<PostgresLog, 'ping'>, timeoutMs: number): Promise<void> {
  try {
    await postgres.ping(timeoutMs);
  } catch (error) {
    throw new Error('PostgreSQL does not answer', { cause: error });
  }
}

async function assertLogged({ written }: Pick<LogControl, 'written'>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('logging blocked')), LOG_TIMEOUT_MS);
  });
  await Promise.race([written(), late]).finally(() => clearTimeout(timer));
}
