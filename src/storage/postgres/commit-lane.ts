import { randomBytes } from 'node:crypto';
import { StorageError } from '../errors.ts';
import { NO_REVISION, type Revision, toRevision } from '../revision.ts';
import { BatchCommit, type CommitOutcome, findWrites, type PendingWrite } from './commit.ts';
import { type Connection, type ConnectionOptions, connectWritable } from './connection.ts';
import { CURRENT_REVISION } from './queries.ts';
import { isConnectionFailure, isTransient } from './statements.ts';

const RETRY_MS = 100;
/** How long a broken connection's backend may take to end. */
const BACKEND_END_MS = 10_000;

/** What the lanes of a committer have in common. */
export interface Progress {
  /** The newest revision that a commit of this server is known to have made, or that was there before the first. */
  seen: Revision;
  /** Nobody waits for the database any longer. */
  closed: boolean;
}

interface OpenLane {
  readonly connection: Connection;
  readonly commits: BatchCommit;
}

/** One connection, and what is under way on it: one batch at a time, until each of its writes has been answered. */
export class CommitLane {
  readonly #options: ConnectionOptions;
  readonly #progress: Progress;
  readonly #whenUnreachable: (error: StorageError) => void;
  /** Of this lane alone, so that its backends can be told from all others, also behind a pooler. */
  readonly #purpose = `commits ${randomBytes(4).toString('hex')}`;
  #open: OpenLane | undefined;

  /** `whenUnreachable` is told of each failed attempt to reach the database. */
  constructor(
    options: ConnectionOptions,
    progress: Progress,
    whenUnreachable: (error: StorageError) => void,
  ) {
    this.#options = options;
    this.#progress = progress;
    this.#whenUnreachable = whenUnreachable;
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.connection.close();
  }

  /** Never rejects: each write is told what became of it. */
  async commit(batch: readonly PendingWrite[]): Promise<void> {
    let open = batch;
    // Other lanes go on while the answer to this one may be lost: its revisions are above what was there before it was sent.
    let after: Revision | undefined;
    while (open.length > 0) {
      try {
        const { commits } = await this.#connect();
        after ??= this.#progress.seen;
        this.#settle(open, await commits.commit(open));
        return;
      } catch (error) {
        if (!isConnectionFailure(error)) {
          await this.#isolate(open, error);
          return;
        }
        open = giveUpLate(await this.#resolveLost(open, error, after), this.#progress, toUnavailable(error));
      }
    }
  }

  /** One write that PostgreSQL refuses to store must not take the batch with it. */
  async #isolate(batch: readonly PendingWrite[], error: unknown): Promise<void> {
    if (isTransient(error)) {
      for (const pending of batch) pending.reject(toUnavailable(error));
      return;
    }
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      only.reject(error);
      return;
    }
    for (const pending of batch) await this.commit([pending]);
  }

  /**
   * After a lost connection: asks the log which of the writes are in it, and answers those. What is left was not committed
   * and may be sent again.
   */
  async #resolveLost(
    batch: readonly PendingWrite[],
    cause: unknown,
    after: Revision | undefined,
  ): Promise<readonly PendingWrite[]> {
    let open = batch;
    await this.close();
    while (open.length > 0) {
      try {
        const { connection } = await this.#connect();
        await this.#endBackends(connection);
        const ids = open.map(({ id }) => id);
        const found = await findWrites(connection, ids, after ?? this.#progress.seen);
        for (const pending of open) {
          const revision = found.get(pending.id);
          if (revision !== undefined) pending.resolve(revision);
        }
        return open.filter(({ id }) => !found.has(id));
      } catch (error) {
        await this.close();
        const unreachable = toUnavailable(cause, describe(error));
        open = giveUpLate(open, this.#progress, unreachable);
        this.#whenUnreachable(unreachable);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return open;
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

  async #connect(): Promise<OpenLane> {
    if (this.#open !== undefined) return this.#open;
    const connection = await connectWritable(this.#options, this.#purpose);
    const open = { connection, commits: await prepareCommits(connection) };
    this.#open = open;
    // Before the first batch of all: what is searched for a lost write begins behind what was there.
    if (this.#progress.seen === NO_REVISION) {
      const [row] = await CURRENT_REVISION.run(connection.client, {});
      this.#saw(toRevision(row?.revision ?? 0));
    }
    return open;
  }

  #settle(batch: readonly PendingWrite[], outcomes: readonly CommitOutcome[]): void {
    for (const [at, pending] of batch.entries()) {
      const outcome = outcomes[at];
      if (outcome !== undefined && 'accepted' in outcome) this.#saw(outcome.accepted);
      settle(pending, outcome);
    }
  }

  #saw(revision: Revision): void {
    if (revision > this.#progress.seen) this.#progress.seen = revision;
  }
}

/** A connection that cannot be used is not left open. */
async function prepareCommits(connection: Connection): Promise<BatchCommit> {
  try {
    return await BatchCommit.prepare(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function settle({ write, resolve, reject }: PendingWrite, outcome: CommitOutcome | undefined): void {
  if (outcome === undefined) reject(new Error('commit_revisions gave no answer for a write'));
  else if ('accepted' in outcome) resolve(outcome.accepted);
  else if ('taken' in outcome)
    reject(new StorageError({ kind: 'taken', key: write.key, value: outcome.taken }));
  else reject(refusal(write, outcome.refused));
}

function refusal({ key, expected }: PendingWrite['write'], current: Revision | undefined): StorageError {
  if (current === undefined) return new StorageError({ kind: 'not-found', key });
  return new StorageError({ kind: expected === undefined ? 'exists' : 'conflict', key, current });
}

/**
 * Answers the writes that have waited long enough or that nobody waits for, or all when the server closes; the others may be
 * tried again.
 */
export function giveUpLate(
  writes: readonly PendingWrite[],
  { closed }: Progress,
  error: StorageError,
): readonly PendingWrite[] {
  const isLate = ({ deadlineMs, write }: PendingWrite): boolean =>
    closed || Date.now() > deadlineMs || write.caller?.aborted === true;
  for (const pending of writes.filter(isLate)) pending.reject(error);
  return writes.filter((pending) => !isLate(pending));
}

const toUnavailable = (cause: unknown, reason = describe(cause)): StorageError =>
  new StorageError({ kind: 'unavailable', reason }, { cause });

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
