import { randomBytes } from 'node:crypto';
import { type Backoff, pause, pauseAfter } from '../../../util/pause.ts';
import { StorageError, type Unavailable } from '../../errors.ts';
import { NO_REVISION, type Revision, toRevision } from '../../revision.ts';
import type { Condition } from '../connection/condition.ts';
import {
  type Connection,
  type ConnectionOptions,
  connectWritable,
  toApplicationName,
} from '../connection/connection.ts';
import {
  isConflict,
  isConnectionFailure,
  isLockTimeout,
  isOfSchema,
  isReadOnly,
  isTransient,
  toUnavailable,
  UncertainCommit,
  wasNotSent,
} from '../connection/statements.ts';
import { describeTrouble } from '../connection/trouble.ts';
import { CURRENT_REVISION } from '../read/queries.ts';
import { BatchCommit, type CommitOutcome, findWrites, type PendingWrite } from './commit.ts';

const BACKOFF: Backoff = { firstMs: 100, longestMs: 2000 };
/** How long a broken connection's backend may take to end. */
const BACKEND_END_MS = 10_000;
const BACKEND_POLL_MS = 10;
/** How long commit_revisions waits for the ordering lock. */
const LOCK_WAIT_MS = 10_000;
/** Do not send writes with less time left: their outcome could not be reported. */
const MIN_ANSWER_MS = 1000;

/** What the lanes of a committer share. */
export interface Progress {
  /** The newest revision that this server is known to have committed, or that was there before its first. */
  seen: Revision;
  /** Aborted when the committer closes. */
  readonly closing: AbortSignal;
  /** Why the last attempt failed; undefined when it worked. */
  trouble: Unavailable | undefined;
  /** Reports in the log whether writes succeed. */
  readonly condition: Condition;
  /** The last attempt did not get the ordering lock in time. */
  isLocked: boolean;
}

interface OpenLane {
  readonly connection: Connection;
  readonly commits: BatchCommit;
}

/** CommitLane has one connection and one batch at a time under way on it, until each write is answered. */
export class CommitLane {
  readonly #options: ConnectionOptions;
  readonly #progress: Progress;
  readonly #whenUnreachable: (error: StorageError) => void;
  readonly #now: () => number;
  /** Unique to this lane, so that its backends can be found, also behind a pooler. */
  readonly #purpose = `commits ${randomBytes(4).toString('hex')}`;
  #open: OpenLane | undefined;
  /** Failures in a row. */
  #failures = 0;

  /** `whenUnreachable` is called after each failed attempt to reach the database. */
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

  /** Commits a batch and answers each write. Never rejects. */
  async commit(batch: readonly PendingWrite[]): Promise<void> {
    let open = batch;
    let wasOfSchema = false;
    while (open.length > 0) {
      // Taken before sending: revisions of a batch whose answer is lost are above it, regardless of other lanes.
      let sentAfter: Revision | undefined;
      try {
        const { commits } = await this.#connect();
        open = answerable(stillOpen(open, this.#progress), this.#progress);
        if (open.length === 0) return;
        sentAfter = this.#progress.seen;
        const witness = { seen: this.#options.history?.seen, now: new Date(this.#now()) };
        markSent(open);
        const outcomes = await commits.commit(open, witness, leftMs(open));
        this.#assertUnfenced();
        this.#settle(open, outcomes);
        this.#worked();
        return;
      } catch (error) {
        const isNewSchema: boolean = isOfSchema(error) && !wasOfSchema;
        wasOfSchema ||= isNewSchema;
        open = await (isNewSchema ? this.#anew(open, error) : this.#afterFailure(open, error, sentAfter));
      }
    }
  }

  /** Handles a failure. Returns the writes to send, or to send again: none is in the log. */
  async #afterFailure(
    batch: readonly PendingWrite[],
    error: unknown,
    sentAfter: Revision | undefined,
  ): Promise<readonly PendingWrite[]> {
    const unavailable = unavailableBy(error);
    const isUncertain = isConnectionFailure(error) || error instanceof UncertainCommit;
    const isLost = sentAfter !== undefined && isUncertain && !isReadOnly(error) && !wasNotSent(error);
    if (!isLost) markUnsent(batch);
    if (isLockTimeout(error)) {
      // Nothing was done, and the connection is in order.
      this.#progress.isLocked = true;
      this.#troubled(error);
      return stillOpen(batch, this.#progress, unavailable);
    }
    if (isConflict(error)) {
      // Likewise: PostgreSQL ended this transaction so that another could go on.
      await this.#failed(error);
      return stillOpen(batch, this.#progress, unavailable);
    }
    if (!isUncertain) {
      await this.#isolate(batch, error);
      return [];
    }
    await this.close();
    if (isLost) return this.#resolveLost(batch, error, sentAfter);
    if (sentAfter === undefined || isReadOnly(error)) await this.#unreachable(unavailable);
    return stillOpen(batch, this.#progress, unavailable);
  }

  /** Prepares another try in a new session, which knows the present schema: a migration may have come in between. */
  async #anew(batch: readonly PendingWrite[], error: unknown): Promise<readonly PendingWrite[]> {
    markUnsent(batch);
    await this.close();
    await this.#failed(error);
    return stillOpen(batch, this.#progress, unavailableBy(error));
  }

  #worked(): void {
    this.#failures = 0;
    this.#progress.trouble = undefined;
    this.#progress.isLocked = false;
    this.#progress.condition.worked();
  }

  #troubled(error: unknown): void {
    const trouble = toUnavailable(error, describeTrouble(error));
    this.#progress.trouble = trouble;
    if (!this.#progress.closing.aborted) this.#progress.condition.failed(trouble.reason);
  }

  /** Waits before another attempt, even when no write of this batch is left. */
  async #failed(error: unknown): Promise<void> {
    this.#failures += 1;
    this.#troubled(error);
    await pause(pauseAfter(this.#failures, BACKOFF), this.#progress.closing);
  }

  async #unreachable(error: StorageError): Promise<void> {
    this.#whenUnreachable(error);
    await this.#failed(error);
  }

  /** Commits writes one by one, so that one that PostgreSQL refuses fails alone. */
  async #isolate(batch: readonly PendingWrite[], error: unknown): Promise<void> {
    if (isTransient(error)) {
      this.#troubled(error);
      for (const pending of batch) pending.reject(unavailableBy(error));
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
   * After a lost answer: finds the writes that are in the log, and resolves them. Returns the others, which were not committed and
   * may be sent again.
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
        const missing = open.filter(({ id }) => !found.has(id));
        markUnsent(missing);
        return missing;
      } catch (error) {
        await this.close();
        open = stillOpen(open, this.#progress, toUnknown(cause, describeTrouble(error)));
        await this.#unreachable(unavailableBy(cause, describeTrouble(error)));
      }
    }
    return open;
  }

  /**
   * Ends the lost connection's backend, which must not commit after the log is searched. A backend that waits for a standby has
   * committed and is left alone: ended, it would show what no standby has.
   */
  async #endBackends({ client }: Connection, deadlineMs: number): Promise<void> {
    const untilMs = Math.min(Date.now() + BACKEND_END_MS, deadlineMs);
    do {
      const { rows } = await client.query(END_BACKENDS, [
        toApplicationName(this.#purpose, this.#options.schema),
      ]);
      if (rows.length === 0) return;
      await pause(BACKEND_POLL_MS, this.#progress.closing);
    } while (Date.now() < untilMs && !this.#progress.closing.aborted);
    throw new Error('the backend of a broken connection does not end');
  }

  /** The outcomes are of a log that a promoted host has replaced: there, the writes are made or not. */
  #assertUnfenced(): void {
    if (this.#isFenced) throw new UncertainCommit('another host was promoted');
  }

  get #isFenced(): boolean {
    const { hosts } = this.#options;
    return this.#open !== undefined && hosts?.isFenced(this.#open.connection.route.url) === true;
  }

  async #connect(): Promise<OpenLane> {
    if (this.#isFenced) await this.close();
    if (this.#open !== undefined) return this.#open;
    const connection = await connectWritable(this.#options, this.#purpose);
    const open = { connection, commits: await prepareCommits(connection) };
    this.#open = open;
    // Before the first batch: the search for lost writes begins above what was there.
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

/** Ends the backends of a lane's lost connection. */
const END_BACKENDS = `
  SELECT CASE WHEN wait_event = 'SyncRep' THEN false ELSE pg_terminate_backend(pid) END
  FROM pg_stat_activity
  WHERE application_name = $1 AND pid <> pg_backend_pid()`;

/** Closes a connection that cannot be used. */
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
  if ('moved' in outcome) return new StorageError({ kind: 'moved' });
  if ('taken' in outcome) return new StorageError({ kind: 'taken', key, value: outcome.taken });
  const { refused: current } = outcome;
  if (current === undefined) return new StorageError({ kind: 'not-found', key });
  return new StorageError({ kind: expected === undefined ? 'exists' : 'conflict', key, current });
}

function markSent(writes: readonly PendingWrite[]): void {
  for (const pending of writes) pending.isSent = true;
}

/** Marks writes that PostgreSQL has certainly not made and will not make. */
function markUnsent(writes: readonly PendingWrite[]): void {
  for (const pending of writes) pending.isSent = false;
}

/** Returns writes whose callers wait. Rejects the others and, after an error, all when closing. */
export function stillOpen(
  writes: readonly PendingWrite[],
  { closing }: Pick<Progress, 'closing'>,
  error?: StorageError,
): readonly PendingWrite[] {
  const isOver = ({ write }: PendingWrite): boolean =>
    (closing.aborted && error !== undefined) || write.caller?.aborted === true;
  for (const pending of writes)
    if (isOver(pending)) pending.reject(error ?? new StorageError({ kind: 'abandoned' }));
  return writes.filter(({ isAnswered }) => !isAnswered);
}

/**
 * Returns the writes that can be answered before their deadlines, as far as can be foreseen. Rejects the others while it is certain
 * that they were not made; after a later attempt it might not be.
 */
function answerable(
  writes: readonly PendingWrite[],
  { isLocked, trouble }: Progress,
): readonly PendingWrite[] {
  const untilMs = Date.now() + (isLocked ? LOCK_WAIT_MS : MIN_ANSWER_MS);
  const late = writes.filter(({ deadlineMs }) => deadlineMs < untilMs);
  const busy = (reason: string): Unavailable => ({ kind: 'unavailable', reason, because: 'time' });
  const why = isLocked ? busy('the ordering lock is not to be had') : (trouble ?? busy('it was busy'));
  for (const pending of late) pending.reject(new StorageError(why));
  return late.length === 0 ? writes : writes.filter(({ isAnswered }) => !isAnswered);
}

const unavailableBy = (cause: unknown, reason = describeTrouble(cause)): StorageError =>
  new StorageError(toUnavailable(cause, reason), { cause });

const toUnknown = (cause: unknown, reason: string): StorageError =>
  new StorageError({ kind: 'unknown', reason }, { cause });

const latestDeadline = (writes: readonly PendingWrite[]): number =>
  Math.max(...writes.map(({ deadlineMs }) => deadlineMs));

/** Returns how long to wait for the answer to a batch: until the latest of its deadlines. */
const leftMs = (writes: readonly PendingWrite[]): number =>
  Math.max(latestDeadline(writes) - Date.now(), MIN_ANSWER_MS);
