import { randomUUID } from 'node:crypto';
import { openPostgres, type PostgresLog } from '../../../src/storage/postgres/postgres.ts';
import type { Revision } from '../../../src/storage/revision.ts';
import type { Change, ChangeSink, Write, WriteVerb } from '../../../src/storage/revision-log.ts';
import type { TestDatabase } from '../../postgres.ts';

export type PostgresOptions = Parameters<typeof openPostgres>[0];

/** Drops partitions as soon as they are left; see {@link openUsualLog}. */
export const openLog = (url: string, options: Partial<PostgresOptions> = {}): PostgresLog =>
  openUsualLog(url, { settleMs: 0, ...options });

/** With the times of upkeep that a server has. */
export function openUsualLog(url: string, options: Partial<PostgresOptions> = {}): PostgresLog {
  return openPostgres({
    ...{ urls: [url], poolSize: 4, compactionIntervalMs: 0, onTrouble: () => {} },
    ...options,
  });
}

/** How far back history is kept, as a server sets it. */
export async function keepHistory(database: TestDatabase, window: string): Promise<void> {
  await database.query('UPDATE compaction SET history_window = $1', [window]);
}

/**
 * Ends the partition that is written to and begins another, as if as much had been written as goes into one. Answers how many
 * there are.
 */
export async function beginPartition(database: TestDatabase): Promise<number> {
  await database.query(
    "SELECT setval('revisions_revision_seq', (SELECT high - 1 FROM log_partitions() WHERE high > last_value ORDER BY high LIMIT 1)) FROM revisions_revision_seq",
  );
  return (await database.query('SELECT FROM log_partitions()')).length;
}

/**
 * Brings objects the bytes that commits have left to the log: all of them, or those that are as far behind and as old as the options say.
 * Answers how many steps it took.
 */
export async function fillObjects(
  database: Pick<TestDatabase, 'query'>,
  { behind = 0, olderThan = '0 s' }: { readonly behind?: number; readonly olderThan?: string } = {},
): Promise<number> {
  for (let steps = 0; ; steps += 1) {
    const values = [behind, olderThan];
    const [row] = await database.query<{ step: string }>('SELECT fill_objects($1, $2) AS step', values);
    if (row?.step === 'nothing') return steps;
  }
}

export function write(verb: WriteVerb, name: string, expected?: Revision, data = 'x'): Write {
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, namespace: 'default' },
    data: { data },
  };
  return {
    verb,
    key: { group: '', resource: 'configmaps', namespace: 'default', name },
    uid: randomUUID(),
    expected,
    json: Buffer.from(JSON.stringify(object)),
    attribution: {
      username: 'tester',
      userAgent: 'vitest',
      sourceAddress: '127.0.0.1',
      requestId: randomUUID(),
      fieldManager: 'vitest',
    },
  };
}

/** A sink that remembers, with a way to wait for a revision. */
export class Recorder implements ChangeSink {
  readonly changes: Change[] = [];
  readonly resets: string[] = [];
  readonly #waiting: { revision: Revision; resolve: () => void }[] = [];
  readonly #resetTo: () => Promise<Revision>;

  constructor(resetTo: () => Promise<Revision> = () => Promise.reject(new Error('no reset expected'))) {
    this.#resetTo = resetTo;
  }

  apply(changes: readonly Change[]): void {
    this.changes.push(...changes);
    const last = changes.at(-1)?.revision ?? 0n;
    for (const waiter of this.#waiting) if (waiter.revision <= last) waiter.resolve();
  }

  /** Resolves when the new state is complete: later writes are not part of it. */
  async reset(reason: string): Promise<Revision> {
    const revision = await this.#resetTo();
    this.resets.push(reason);
    return revision;
  }

  reached(revision: Revision): Promise<void> {
    if ((this.changes.at(-1)?.revision ?? 0n) >= revision) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ revision, resolve }));
  }
}
