import { randomBytes } from 'node:crypto';
import { StorageError } from '../errors.ts';
import { NO_REVISION, type Revision, toRevision } from '../revision.ts';
import type { Committer, Write } from '../revision-log.ts';
import {
  type CommitOutcome,
  commitBatch,
  findWrites,
  type PendingWrite,
  toBatchKeys,
  toPendingWrite,
} from './commit.ts';
import { type Connection, type ConnectionOptions, connectWritable } from './connection.ts';
import { CURRENT_REVISION } from './queries.ts';
import { isConnectionFailure, isTransient } from './statements.ts';

/** Bounds of one batch. Larger ones hold the ordering lock longer without saving round trips. */
const MAX_BATCH_WRITES = 512;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** What waits beyond this is refused, so that a database that is gone does not fill the server's memory. */
const MAX_QUEUED_WRITES = 20_000;
const MAX_OBJECT_BYTES = 3 * 1024 * 1024;
/** How long a write waits for a database that cannot be reached before it is answered with `unavailable`. */
const PATIENCE_MS = 30_000;
const RETRY_MS = 100;
/** How long a broken connection's backend may take to end. */
const BACKEND_END_MS = 10_000;

/**
 * Group commit: writes that arrive while a batch is under way form the next one. There is one batch in flight a server;
 * the ordering lock would make a second one wait in PostgreSQL instead of growing here.
 */
export class BatchingCommitter implements Committer {
  readonly #options: ConnectionOptions;
  readonly #queue: PendingWrite[] = [];
  /** Of this committer alone, so that its backends can be told from all others, also behind a pooler. */
  readonly #purpose = `commits ${randomBytes(4).toString('hex')}`;
  #connection: Connection | undefined;
  #lastRevision: Revision = NO_REVISION;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Writes that wait for their batch. */
  get queued(): number {
    return this.#queue.length;
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
      this.#queue.push(toPendingWrite(write, PATIENCE_MS, { resolve, reject }));
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
      const own = toBatchKeys(pending.write);
      if (own.some((key) => keys.has(key))) {
        later.push(pending);
        continue;
      }
      for (const key of own) keys.add(key);
      batch.push(pending);
      sizeBytes += pending.write.json.length;
    }
    this.#queue.splice(0, taken, ...later);
    return batch;
  }

  async #commitNext(batch: PendingWrite[]): Promise<void> {
    let open = batch;
    while (open.length > 0) {
      try {
        const outcomes = await commitBatch(await this.#connect(), open);
        settle(open, outcomes, (revision) => this.#sawRevision(revision));
        return;
      } catch (error) {
        if (!isConnectionFailure(error)) {
          await this.#isolate(open, error);
          return;
        }
        open = this.#giveUpLate(await this.#resolveLost(open, error), error);
      }
    }
  }

  /** One write that PostgreSQL refuses to store must not take the batch with it. */
  async #isolate(batch: readonly PendingWrite[], error: unknown): Promise<void> {
    if (isTransient(error)) {
      for (const pending of batch) pending.reject(unavailable(describe(error), error));
      return;
    }
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
  async #resolveLost(batch: PendingWrite[], cause: unknown): Promise<PendingWrite[]> {
    let open = batch;
    await this.#disconnect();
    while (open.length > 0) {
      try {
        const connection = await this.#connect();
        await this.#endBackends(connection);
        const ids = open.map(({ id }) => id);
        const found = await findWrites(connection, ids, this.#lastRevision);
        for (const pending of open) {
          const revision = found.get(pending.id);
          if (revision !== undefined) pending.resolve(revision);
        }
        return open.filter(({ id }) => !found.has(id));
      } catch (error) {
        await this.#disconnect();
        open = this.#giveUpLate(open, cause, describe(error));
        this.#queue.splice(0, this.#queue.length, ...this.#giveUpLate(this.#queue, cause, describe(error)));
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return open;
  }

  /** Answers the writes that have waited long enough, or all when we are closing; the others may be tried again. */
  #giveUpLate(
    writes: readonly PendingWrite[],
    cause: unknown,
    reason: string = describe(cause),
  ): PendingWrite[] {
    const isLate = ({ deadlineMs }: PendingWrite): boolean => this.#closed || Date.now() > deadlineMs;
    for (const pending of writes.filter(isLate)) pending.reject(unavailable(reason, cause));
    return writes.filter((pending) => !isLate(pending));
  }

  /** The lost connection's backend may not have noticed yet; it must not commit after the log was searched. */
  async #endBackends({ client }: Connection): Promise<void> {
    const deadline = Date.now() + BACKEND_END_MS;
    while (Date.now() < deadline) {
      const { rows } = await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
        [`pg-apiserver ${this.#purpose}`],
      );
      if (rows.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error('the backend of a broken connection does not end');
  }

  async #connect(): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    const connection = await connectWritable(this.#options, this.#purpose);
    this.#connection = connection;
    // Later connections are made to find writes again, and must look from where the last answer left off.
    if (this.#lastRevision === NO_REVISION) {
      const [row] = await CURRENT_REVISION.run(connection.client, {});
      this.#sawRevision(toRevision(row?.revision ?? 0));
    }
    return connection;
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
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
    } else if ('taken' in outcome) {
      pending.reject(new StorageError({ kind: 'taken', key: pending.write.key, value: outcome.taken }));
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
