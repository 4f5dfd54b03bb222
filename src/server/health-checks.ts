import type { HealthCheck } from '../diagnostics/health-pages.ts';
import type { LogControl } from '../observability/logger.ts';
import type { StorageOptions } from '../options/storage.ts';
import type { FeedState } from '../storage/postgres/feed/feed.ts';
import { PRIMARY } from '../storage/postgres/feed/tail-source.ts';
import type { PostgresLog } from '../storage/postgres/postgres.ts';
import { inTime } from '../util/in-time.ts';

const EVERYWHERE = ['healthz', 'livez', 'readyz'] as const;
const READYZ = ['readyz'] as const;

/** A log that takes longer to take a line is broken. */
const LOG_TIMEOUT_MS = 2000;

/** Longer than the stream takes to be given up, and the table to be read in its place. */
const BEHIND_MS = 10_000;

/** Checks under Kubernetes' names, which are listed first, and under our own. */
export interface NamedChecks {
  readonly kubernetes: readonly HealthCheck[];
  readonly own: readonly HealthCheck[];
}

/** Checks that hold at any time, the start included. */
export function createBaseChecks(
  postgres: Pick<PostgresLog, 'ping'>,
  logger: Pick<LogControl, 'written'>,
  { healthTimeoutMs, readyTimeoutMs }: Pick<StorageOptions, 'healthTimeoutMs' | 'readyTimeoutMs'>,
  others: readonly { readonly id: string; readonly log: Pick<PostgresLog, 'ping'> }[] = [],
): NamedChecks {
  const healthy = shared(() => pingDatabase(postgres, healthTimeoutMs));
  const ready = shared(() => pingDatabase(postgres, readyTimeoutMs));
  return {
    kubernetes: [
      // The answer itself is the check.
      { name: 'ping', endpoints: EVERYWHERE, check: () => {} },
      { name: 'log', endpoints: EVERYWHERE, check: () => assertLogged(logger) },
      { name: 'etcd', endpoints: EVERYWHERE, check: healthy },
      { name: 'etcd-readiness', endpoints: READYZ, check: ready },
      ...others.flatMap(({ log }, at): HealthCheck[] => [
        {
          name: `etcd-override-${at}`,
          endpoints: EVERYWHERE,
          check: shared(() => pingDatabase(log, healthTimeoutMs)),
        },
        {
          name: `etcd-override-readiness-${at}`,
          endpoints: READYZ,
          check: shared(() => pingDatabase(log, readyTimeoutMs)),
        },
      ]),
    ],
    own: [
      { name: 'postgres', endpoints: ['healthz', 'livez'], check: healthy },
      { name: 'postgres-readiness', endpoints: READYZ, check: ready },
    ],
  };
}

interface FollowedDatabase {
  readonly guard: Pick<PostgresLog['guard'], 'trouble'>;
  readonly feed: {
    readonly state: Pick<FeedState, 'mode' | 'stalled' | 'source' | 'behindMs' | 'remedy'>;
  };
}

/** Whether the cache follows the database. `services` are the checks of essential services. */
export function createCacheChecks(
  postgres: Pick<PostgresLog, 'readServers'> & FollowedDatabase,
  services: readonly HealthCheck[],
  /** More databases; a resource may be moved to one at any time. */
  others: () => readonly FollowedDatabase[] = () => [],
): NamedChecks {
  const caches = services.filter(({ name }) => name.startsWith('watch-cache'));
  const all = (): FollowedDatabase[] => [postgres, ...others()];
  const assertAllFollowed = (): void => {
    for (const { feed } of all()) assertFollowed(feed.state);
  };
  const checkCaches = async (): Promise<void> => {
    for (const { check } of caches) await check();
    assertAllFollowed();
  };
  const note = (): string | undefined => describeTails(all().map(({ feed }) => feed.state));
  return {
    kubernetes: [{ name: 'informer-sync', endpoints: READYZ, check: checkCaches }],
    own: [
      { name: 'tail', endpoints: READYZ, check: assertAllFollowed, note },
      { name: 'primary', endpoints: READYZ, check: () => assertPrimaries(all()) },
      ...createReadServersCheck(postgres),
      ...services,
    ],
  };
}

type TailState = FollowedDatabase['feed']['state'];

/** Polling is slower, but correct: the log and a note report it, and the server stays in service. */
function assertFollowed({ mode, stalled, behindMs }: TailState): void {
  if (mode === 'starting') throw new Error('the tail has not begun');
  if (stalled !== undefined) throw new Error(`changes do not arrive: ${stalled}`);
  if (behindMs > BEHIND_MS)
    throw new Error(`changes do not arrive: none for ${Math.round(behindMs / 1000)} s, and there are some`);
}

function assertPrimaries(databases: readonly FollowedDatabase[]): void {
  const trouble = databases.map(({ guard }) => guard.trouble).find((one) => one !== undefined);
  if (trouble !== undefined) throw new Error(`writes and consistent reads are refused: ${trouble}`);
}

/** Undefined: the primaries stream. */
function describeTails(states: readonly TailState[]): string | undefined {
  if (states.some(({ mode }) => mode === 'polling')) {
    const remedies = states.flatMap(({ remedy = [] }) => remedy);
    return ['changes are polled, because they cannot be streamed', ...remedies].join('; mended by: ');
  }
  // The log and metrics name it.
  const isStandby = states.some(({ source }) => source !== undefined && source !== PRIMARY);
  return isStandby ? 'a read server streams changes, because the primary does not' : undefined;
}

/** Never fails: the primary can answer in their place. */
function createReadServersCheck({ readServers }: Pick<PostgresLog, 'readServers'>): HealthCheck[] {
  if (readServers().servers.length === 0) return [];
  const note = (): string => {
    const { servers } = readServers();
    const able = servers.filter(({ isInService }) => isInService).length;
    return able > 0
      ? `${able} of ${servers.length} read servers are in service`
      : 'no read server is in service: the primary serves history';
  };
  return [{ name: 'read-servers', endpoints: READYZ, check: () => {}, note }];
}

/** One query serves all checks and callers that ask at the same time. */
function shared(check: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return () => {
    underWay ??= check().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** The driver's message holds the database's address, which only the log may show. */
async function pingDatabase(postgres: Pick<PostgresLog, 'ping'>, timeoutMs: number): Promise<void> {
  try {
    await postgres.ping(timeoutMs);
  } catch (error) {
    throw new Error('PostgreSQL does not answer', { cause: error });
  }
}

async function assertLogged({ written }: Pick<LogControl, 'written'>): Promise<void> {
  await inTime(written(), LOG_TIMEOUT_MS, () => {
    throw new Error('logging blocked');
  });
}
