import { StorageError } from '../../errors.ts';
import { NO_REVISION, type Revision } from '../../revision.ts';
import type { Committer, Write } from '../../revision-log.ts';
import { Condition } from '../connection/condition.ts';
import type { ConnectionOptions } from '../connection/connection.ts';
import type { Lease } from '../fencing/primary-lease.ts';
import { type PendingWrite, toBatchKeys } from './commit.ts';
import { CommitLane, type Progress, stillOpen } from './commit-lane.ts';
import { OpenWrites } from './open-writes.ts';

/** Bounds of one batch. Larger ones hold the ordering lock longer and save no round trips. */
const MAX_BATCH_WRITES = 512;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;
/** Writes that wait beyond this are refused, so that a slow or lost database does not fill the server's memory. */
const MAX_OPEN_WRITES = 20_000;
const MAX_OPEN_BYTES = 64 * 1024 * 1024;
const MAX_OBJECT_BYTES = 3 * 1024 * 1024;
/** Within this time every write is answered, also when the database does not. */
const PATIENCE_MS = 30_000;
/**
 * One batch is committed while another is received, so that PostgreSQL has work while this process handles requests. More would
 * only wait for the ordering lock there instead of growing here.
 */
const LANES = 2;
/** Fewer writes wait for the batch under way: many small batches cost more than they bring. */
const WORTH_A_LANE = 8;

interface Wishes {
  /** One line for the log. */
  readonly onTrouble: (line: string) => void;
  /** This server's clock, which bounds how far ahead the database's may take the log. */
  readonly now?: () => number;
  readonly patienceMs?: number | undefined;
  readonly lease?: Lease;
}

/**
 * BatchingCommitter commits writes in groups: writes that arrive while batches are under way form the next one.
 *
 * Revisions are drawn and committed under one lock, so that the order of ids is the order of commits, over any number of servers.
 * Concurrent inserts without the lock were rejected: a higher id may become visible before a lower one, and readers would have to
 * wait for gaps that mean nothing. The lock is cheap because a batch takes it once: one call of commit_revisions, one round trip,
 * one fsync. A client that vanishes never holds it, because it is taken within the call.
 *
 * Two lanes, each with a connection, commit a batch each, so that PostgreSQL receives one while it commits the other. A single lane
 * was rejected: with 64 clients it wrote 3,580 config maps a second, two write 4,110. More lanes would only wait for the lock. Few
 * writes do not take the second lane, but wait and go together.
 *
 * - A batch has at most one write of an object and of a claimed value. Other writes of these wait for a later batch.
 * - A refused write fails alone (CommitLane).
 * - A write whose answer was lost is looked up by its id, never guessed and never sent twice before that.
 * - Every write is answered by its deadline, also with work under way (OpenWrites). Limits on each wait were rejected: for lanes,
 *   hosts, locks and lost answers, they added up to more than the promised time.
 * - What waits is bounded in number and bytes; beyond that, writes are refused at once.
 */
export class BatchingCommitter implements Committer {
  readonly #queue: PendingWrite[] = [];
  readonly #closing = new AbortController();
  readonly #progress: Progress;
  readonly #open: OpenWrites;
  readonly #idle: CommitLane[];
  readonly #busy = new Set<Promise<void>>();
  readonly #lease: Lease | undefined;
  #dispatches = false;

  constructor(
    options: ConnectionOptions,
    { onTrouble, now = Date.now, patienceMs = PATIENCE_MS, lease }: Wishes,
  ) {
    this.#lease = lease;
    this.#progress = {
      seen: NO_REVISION,
      closing: this.#closing.signal,
      trouble: undefined,
      condition: new Condition('writes', onTrouble),
      isLocked: false,
    };
    this.#open = new OpenWrites(patienceMs, () => this.#progress.trouble);
    this.#idle = Array.from(
      { length: LANES },
      () => new CommitLane(options, this.#progress, (error) => this.#giveUp(error), now),
    );
  }

  /** Writes that wait for their batch. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Size of all writes that are not answered yet. */
  get openBytes(): number {
    return this.#open.sizeBytes;
  }

  commit(write: Write): Promise<Revision> {
    const sizeBytes = write.json.length;
    if (sizeBytes > MAX_OBJECT_BYTES) {
      const failure = { kind: 'too-large', sizeBytes, limitBytes: MAX_OBJECT_BYTES } as const;
      return Promise.reject(new StorageError(failure));
    }
    if (this.#closing.signal.aborted) {
      const failure = { kind: 'unavailable', reason: 'the server is shutting down' } as const;
      return Promise.reject(new StorageError(failure));
    }
    const reason = this.#lease?.trouble;
    if (reason !== undefined) return Promise.reject(new StorageError({ kind: 'unavailable', reason }));
    if (this.#open.count >= MAX_OPEN_WRITES || this.#open.sizeBytes + sizeBytes > MAX_OPEN_BYTES)
      return Promise.reject(new StorageError({ kind: 'overloaded' }));
    return new Promise((resolve, reject) => {
      this.#queue.push(this.#open.add(write, { resolve, reject }));
      this.#dispatchSoon();
    });
  }

  /** Commits what is queued, then closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#dispatch();
    while (this.#busy.size > 0) await Promise.all(this.#busy);
    this.#open.close();
    await Promise.all(this.#idle.map((lane) => lane.close()));
  }

  /** Dispatches after this turn of the event loop: a burst of requests becomes one batch instead of one and the rest. */
  #dispatchSoon(): void {
    if (this.#dispatches) return;
    this.#dispatches = true;
    setImmediate(() => {
      this.#dispatches = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const isWorthIt = this.#busy.size === 0 || this.#queue.length >= WORTH_A_LANE;
      if (!isWorthIt || this.#idle.length === 0) return;
      const batch = this.#takeBatch();
      const lane = batch.length === 0 ? undefined : this.#idle.pop();
      if (lane === undefined) continue;
      const running = lane.commit(batch).then(() => {
        this.#busy.delete(running);
        this.#idle.push(lane);
        this.#dispatch();
      });
      this.#busy.add(running);
    }
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
      if (pending.isAnswered) continue;
      if (pending.write.caller?.aborted === true) {
        pending.reject(new StorageError({ kind: 'abandoned' }));
        continue;
      }
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

  #giveUp(error: StorageError): void {
    this.#queue.splice(0, this.#queue.length, ...stillOpen(this.#queue, this.#progress, error));
  }
}
