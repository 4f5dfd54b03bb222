import type pg from 'pg';
import { StorageError } from '../errors.ts';
import { NO_REVISION, type Revision, toRevision } from '../revision.ts';
import type { Committer, Write } from '../revision-log.ts';
import {
  type CommitOutcome,
  commitBatch,
  findWrites,
  type PendingWrite,
  toBatchKey,
  toPendingWrite,
} from './commit.ts';
import { type ConnectionOptions, connectWritable } from './connection.ts';
import { isConnectionFailure } from './statements.ts';

/** Bounds of one batch. Larger ones hold the ordering lock longer without saving round trips. */
const MAX_BATCH_WRITES = 512;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** What waits beyond this is refused, so that a database that is gone does not fill the server's memory. */
const MAX_QUEUED_WRITES = 20_000;
const MAX_OBJECT_BYTES = 3 * 1024 * 1024;
/** How long a write waits for a database that cannot be reached before it is answered with `unavailable`. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 100;

/**
 * Group commit: writes that arrive while a batch is under way form the next one. There is one batch in flight a server;
 * the ordering lock would make a second one wait in PostgreSQL instead of growing here.
 */
export class BatchingCommitter implements Committer {
  readonly #options: ConnectionOptions;
  readonly #queue: PendingWrite[] = [];
  #client: pg.Client | undefined;
  #backendPid: string | undefined;
  #lastRevision: Revision = NO_REVISION;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  commit(write: Write): Promise<Revision> {
    if (write.json.length > MAX_OBJECT_BYTES) {
      const failure = {
        kind: 'too-large',
        sizeBytes: write.json.length,
        limitBytes: MAX_OBJECT_BYTES,
      } as const;
      return Promise.reject(new StorageError(failure));
    }
    if (this.#closed) return Promise.reject(unavailable('the server is shutting down'));
    if (this.#queue.length >= MAX_QUEUED_WRITES)
      return Promise.reject(unavailable('too many writes are waiting'));
    return new Promise((resolve, reject) => {
      this.#queue.push(toPendingWrite(write, { resolve, reject }));
      this.#running ??= this.#drain();
    });
  }

  /** Lets what is queued commit, then closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#disconnect();
  }

  async #drain(): Promise<void> {
    // Writes of one turn of the event loop go together: a burst of requests becomes one batch instead of one and the rest.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) await this.#commitNext(this.#takeBatch());
    // In the same turn as the check above, or a write queued in between would wait for the next one.
    this.#running = undefined;
  }

  #takeBatch(): PendingWrite[] {
    const batch: PendingWrite[] = [];
    const later: PendingWrite[] = [];
    const keys = new Set<string>();
    let sizeBytes = 0;
    let taken = 0;
    for (const pending of this.#queue) {
      if (batch.length === MAX_BATCH_WRITES || sizeBytes > MAX_BATCH_BYTES) break;
      taken += 1;
      const key = toBatchKey(pending.write.key);
      if (keys.has(key)) {
        later.push(pending);
        continue;
      }
      keys.add(key);
      batch.push(pending);
      sizeBytes += pending.write.json.length;
    }
    this.#queue.splice(0, taken, ...later);
    return batch;
  }

  async #commitNext(batch: PendingWrite[]): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    let open = batch;
    while (open.length > 0) {
      try {
        const client = await this.#connect();
        settle(open, await commitBatch(client, open), (revision) => this.#sawRevision(revision));
        return;
      } catch (error) {
        if (!isConnectionFailure(error)) {
          await this.#isolate(open, error);
          return;
        }
        open = await this.#resolveLost(open, deadline, error);
      }
    }
  }

  /** One write that PostgreSQL refuses to store must not take the batch with it. */
  async #isolate(batch: readonly PendingWrite[], error: unknown): Promise<void> {
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      only.reject(error);
      return;
    }
    for (const pending of batch) await this.#commitNext([pending]);
  }

  /**
   * After a lost connection: asks the log which of the writes are in it, and answers those. What is left was not committed
   * and may be sent again.
   */
  async #resolveLost(
    batch: readonly PendingWrite[],
    deadline: number,
    cause: unknown,
  ): Promise<PendingWrite[]> {
    const lostPid = this.#backendPid;
    await this.#disconnect();
    for (;;) {
      try {
        const client = await this.#connect();
        if (lostPid !== undefined) await this.#endBackend(client, lostPid);
        const ids = batch.map(({ id }) => id);
        const found = await findWrites(client, ids, this.#lastRevision);
        for (const pending of batch) {
          const revision = found.get(pending.id);
          if (revision !== undefined) pending.resolve(revision);
        }
        return batch.filter(({ id }) => !found.has(id));
      } catch (error) {
        await this.#disconnect();
        if (Date.now() > deadline) {
          for (const pending of batch) pending.reject(unavailable(describe(error), cause));
          return [];
        }
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** The lost connection's backend may not have noticed yet; it must not commit after the log was searched. */
  async #endBackend(client: pg.Client, pid: string): Promise<void> {
    for (;;) {
      const { rows } = await client.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND application_name = 'pg-apiserver commits'",
        [pid],
      );
      if (rows.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #connect(): Promise<pg.Client> {
    if (this.#client !== undefined) return this.#client;
    const client = await connectWritable(this.#options, 'commits');
    const { rows } = await client.query<{ pid: string; revision: string }>(
      'SELECT pg_backend_pid() AS pid, coalesce((SELECT max(revision) FROM revisions), 0) AS revision',
    );
    this.#backendPid = rows[0]?.pid;
    // Later connections are made to find writes again, and must look from where the last answer left off.
    if (this.#lastRevision === NO_REVISION) this.#sawRevision(toRevision(rows[0]?.revision ?? 0));
    this.#client = client;
    return client;
  }

  async #disconnect(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.#backendPid = undefined;
    await client?.end().catch(() => {});
  }

  #sawRevision(revision: Revision): void {
    if (revision > this.#lastRevision) this.#lastRevision = revision;
  }
}

function settle(
  batch: readonly PendingWrite[],
  outcomes: readonly CommitOutcome[],
  saw: (revision: Revision) => void,
): void {
  for (const [at, pending] of batch.entries()) {
    const outcome = outcomes[at];
    if (outcome === undefined) pending.reject(new Error('commit_revisions gave no answer for a write'));
    else if ('accepted' in outcome) {
      saw(outcome.accepted);
      pending.resolve(outcome.accepted);
    } else pending.reject(refusal(pending.write, outcome.refused));
  }
}

function refusal({ key, expected }: Write, current: Revision | undefined): StorageError {
  if (current === undefined) return new StorageError({ kind: 'not-found', key });
  return new StorageError({ kind: expected === undefined ? 'exists' : 'conflict', key, current });
}

function unavailable(reason: string, cause?: unknown): StorageError {
  return new StorageError({ kind: 'unavailable', reason }, { cause });
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
