import { randomBytes } from 'node:crypto';
import { StorageError } from '../errors.ts';
import { NO_REVISION, type Revision, toRevision } from '../revision.ts';
import { BatchCommit, type CommitOutcome, findWrites, type PendingWrite } from './commit.ts';
import { type Connection, type ConnectionOptions, connectWritable, toApplicationName } from './connection.ts';
import { CURRENT_REVISION } from './queries.ts';
import {
  isConnectionFailure,
  isLockTimeout,
  isTransient,
  UncertainCommit,
  wasNotSent,
} from './statements.ts';

const RETRY_MS = 100;
/** How long a broken connection's backend may take to end. */
const BACKEND_END_MS = 10_000;
const BACKEND_POLL_MS = 10;
const MIN_ANSWER_MS = 5000;

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
  readonly #now: () => number;
  /** Of this lane alone, so that its backends can be told from all others, also behind a pooler. */
  readonly #purpose = `commits ${randomBytes(4).toString('hex')}`;
  #open: OpenLane | undefined;

  /** `whenUnreachable` is told of each failed attempt to reach the database. */
  constructor(
    options: ConnectionOptions,
    progress: Progress,
    whenUnreachable: (error: StorageError) => void,
    now: () => number = Date.now,
  ) {
    this.#options = options;
    this.#progress = progress;
    this.#whenUnreachable = whenUnreachable;
    this.#now = now;
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.connection.close();
  }

  /** Never rejects: each write is told what became of it. */
  async commit(batch: readonly PendingWrite[]): Promise<void> {
    let open = batch;
    while (open.length > 0) {
      // Other lanes go on while the answer to this one may be lost: its revisions are above what was there before it was sent.
      let sentAfter: Revision | undefined;
      try {
        const { commits } = await this.#connect();
        sentAfter = this.#progress.seen;
        const witness = { seen: this.#options.history?.seen, now: new Date(this.#now()) };
        this.#settle(open, await commits.commit(open, witness, leftMs(open)));
        return;
      } catch (error) {
        open = await this.#afterFailure(open, error, sentAfter);
      }
    }
  }

  /** Answers the writes that are to be sent, or sent again: none of them is in the log. */
  async #afterFailure(
    batch: readonly PendingWrite[],
    error: unknown,
    sentAfter: Revision | undefined,
  ): Promise<readonly PendingWrite[]> {
    const unreachable = toUnavailable(error);
    // The ordering lock has not come: nothing was done, and the connection is in order.
    if (isLockTimeout(error)) return giveUpLate(batch, this.#progress, unreachable);
    if (!isConnectionFailure(error) && !(error instanceof UncertainCommit)) {
      await this.#isolate(batch, error);
      return [];
    }
    await this.close();
    if (sentAfter !== undefined && !wasNotSent(error)) {
      return giveUpLate(await this.#resolveLost(batch, error, sentAfter), this.#progress, unreachable);
    }
    if (sentAfter === undefined) {
      this.#whenUnreachable(unreachable);
      await pause(RETRY_MS);
    }
    return giveUpLate(batch, this.#progress, unreachable);
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
   * After a lost answer: asks the log which of the writes are in it, and answers those. What is left was not committed and may
   * be sent again. Whoever cannot be told within his patience is told just that.
   */
  async #resolveLost(
    batch: readonly PendingWrite[],
    cause: unknown,
    after: Revision,
  ): Promise<readonly PendingWrite[]> {
    let open = batch;
    await this.close();
    while (open.length > 0) {
      try {
        const { connection } = await this.#connect();
        await this.#endBackends(connection, latestDeadline(open));
        const ids = open.map(({ id }) => id);
        const found = await findWrites(connection, ids, after);
        for (const pending of open) {
          const revision = found.get(pending.id);
          if (revision !== undefined) this.#accept(pending, revision);
        }
        return open.filter(({ id }) => !found.has(id));
      } catch (error) {
        await this.close();
        open = giveUpLate(open, this.#progress, toUnknown(cause, describe(error)));
        this.#whenUnreachable(toUnavailable(cause, describe(error)));
        await pause(RETRY_MS);
      }
    }
    return open;
  }

  /**
   * The lost connection's backend may not have noticed yet; it must not commit after the log was searched. One that waits for a
   * standby has committed and is left alone: ended, it would show what no standby has.
   */
  async #endBackends({ client }: Connection, deadlineMs: number): Promise<void> {
    const untilMs = Math.min(Date.now() + BACKEND_END_MS, deadlineMs);
    do {
      const { rows } = await client.query(END_BACKENDS, [toApplicationName(this.#purpose)]);
      if (rows.length === 0) return;
      await pause(BACKEND_POLL_MS);
    } while (Date.now() < untilMs && !this.#progress.closed);
    throw new Error('the backend of a broken connection does not end');
  }

  async #connect(): Promise<OpenLane> {
    if (this.#open !== undefined) return this.#open;
    const connection = await connectWritable(this.#options, this.#purpose);
    const open = { connection, commits: await prepareCommits(connection) };
    this.#open = open;
    // Before the first batch of all: what is searched for a lost write begins behind what was there.
    if (this.#progress.seen === NO_REVISION) {
      const [row] = await CURRENT_REVISION.run(connection.client, { seen: String(NO_REVISION) });
      this.#advance(toRevision(row?.revision ?? 0));
    }
    return open;
  }

  #settle(batch: readonly PendingWrite[], outcomes: readonly CommitOutcome[]): void {
    for (const [at, pending] of batch.entries()) {
      const outcome = outcomes[at];
      if (outcome === undefined) pending.reject(new Error('commit_revisions gave no answer for a write'));
      else if ('accepted' in outcome) this.#accept(pending, outcome.accepted);
      else pending.reject(refusal(pending.write, outcome));
    }
  }

  #accept({ id, resolve }: PendingWrite, revision: Revision): void {
    this.#advance(revision);
    this.#options.history?.saw({ revision, writeId: id });
    resolve(revision);
  }

  #advance(revision: Revision): void {
    if (revision > this.#progress.seen) this.#progress.seen = revision;
  }
}

/** Those of a lost connection of a lane. */
const END_BACKENDS = `
  SELECT CASE WHEN wait_event = 'SyncRep' THEN false ELSE pg_terminate_backend(pid) END
  FROM pg_stat_activity
  WHERE application_name = $1 AND pid <> pg_backend_pid()`;

/** A connection that cannot be used is not left open. */
async function prepareCommits(connection: Connection): Promise<BatchCommit> {
  try {
    return await BatchCommit.prepare(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function refusal(
  { key, expected }: PendingWrite['write'],
  outcome: Exclude<CommitOutcome, { readonly accepted: Revision }>,
): StorageError {
  if ('taken' in outcome) return new StorageError({ kind: 'taken', key, value: outcome.taken });
  const { refused: current } = outcome;
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

const toUnknown = (cause: unknown, reason: string): StorageError =>
  new StorageError({ kind: 'unknown', reason }, { cause });

const latestDeadline = (writes: readonly PendingWrite[]): number =>
  Math.max(...writes.map(({ deadlineMs }) => deadlineMs));

/** How long to wait for the answer to a batch: as long as whoever is most patient, and long enough for a slow disk. */
const leftMs = (writes: readonly PendingWrite[]): number =>
  Math.max(latestDeadline(writes) - Date.now(), MIN_ANSWER_MS);

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));
