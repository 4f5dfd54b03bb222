import { failureOf } from '../../storage/errors.ts';
import type { History, LoggedRevision } from '../../storage/history.ts';
import type { LogProgress } from '../../storage/log-progress.ts';
import type { Revision } from '../../storage/revision.ts';
import type { Change } from '../../storage/revision-log.ts';
import type { SharedEvent, TakeEvent, WatchEvent } from '../../storage/store.ts';
import { type Backoff, pause, pauseAfter } from '../../util/pause.ts';
import type { RowConditions } from '../revision-query.ts';
import { type SharedRows, sizeOf } from './shared-rows.ts';

const BOOKMARK_MS = 1000;
/** Rows per read, with their states. */
const MAX_ROWS = 100;
/** Most bytes of rows that wait for a reader. Rows beyond that are read again once it has caught up. */
const WAITING_BYTES = 256 * 1024;
/** Most revisions that a watch queues. With more, it reads the log by itself. */
const MAX_PENDING = 500;
/** Retries while the database is unavailable. */
const RETRIES: Backoff = { firstMs: 50, longestMs: 1000 };

interface RevisionWatchOptions {
  readonly history: History;
  /** New rows of that history, which all its watches share. */
  readonly shared: SharedRows;
  readonly progress: LogProgress;
  readonly conditions: RowConditions;
  readonly bookmarks: boolean;
  readonly after: Revision;
  /** The client named no revision: send an event with the revision where the watch begins. */
  readonly announcesBegin: boolean;
  /** Makes the event of a row; undefined: this client may not see the row. */
  toEvent(row: LoggedRevision): Promise<SharedEvent | undefined>;
}

/**
 * One watch of revisions. The feed of the log announces new revisions; the rows, with their authors, are read from the
 * log once for all watches. Rows from before the feed, and rows that a slow reader missed, are read for this watch
 * alone, and no states are kept for it. While the database is unavailable the watch waits, then continues.
 */
export class RevisionWatch {
  readonly #options: RevisionWatchOptions;
  /** The last revision sent. */
  #position: Revision;
  /** Revisions up to here must be found in the log. */
  #behindUpTo: Revision;
  /** Revisions from there up to here are those in #pending. */
  #target: Revision;
  #pending: Revision[] = [];
  #isReading = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};
  #bookmarkIsDue = false;
  #rowsAtOnce = MAX_ROWS;
  #failures = 0;

  constructor(options: RevisionWatchOptions) {
    this.#options = options;
    this.#position = options.after;
    this.#behindUpTo = options.after;
    this.#target = options.after;
  }

  /** @throws StorageError compacted, when the history that it follows is gone; errors of `take` */
  async run(take: TakeEvent, signal: AbortSignal): Promise<void> {
    const { progress, bookmarks } = this.#options;
    const wake = (): void => this.#wake();
    const unfollow = progress.follow({
      applied: (changes) => this.#applied(changes),
      loaded: (revision) => this.#reach(revision),
      ended: (error, applied) => {
        // A watch that began after the end already reads the history that is loaded now.
        if (this.#position > applied) return;
        this.#failure = { error };
        this.#wake();
      },
    });
    const timer = bookmarks
      ? setInterval(() => {
          this.#bookmarkIsDue = true;
          this.#wake();
        }, BOOKMARK_MS)
      : undefined;
    signal.addEventListener('abort', wake);
    // Reads what precedes the feed.
    this.#reach(progress.applied);
    try {
      const begin = { type: 'INITIAL_EVENTS_END', revision: this.#position } as const;
      if (this.#options.announcesBegin) await this.#give(take, begin, signal);
      while (!signal.aborted) {
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#target > this.#position) await this.#read(take, signal);
        else if (this.#bookmarkIsDue) await this.#bookmark(take, signal);
        else await this.#sleep(signal);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      clearInterval(timer);
      unfollow();
    }
  }

  /** The log has reached this revision, with changes that are unknown here. */
  #reach(revision: Revision): void {
    if (revision <= this.#target) return;
    this.#fallBehind(revision);
    this.#wake();
  }

  #fallBehind(upTo: Revision): void {
    this.#pending = [];
    this.#target = upTo;
    this.#behindUpTo = upTo;
  }

  #applied(changes: readonly Change[]): void {
    const last = changes.at(-1)?.revision;
    if (last === undefined || last <= this.#target) return;
    const concerning = changes.filter((change) => change.revision > this.#target && this.#concerns(change));
    // Skips changes that do not concern an idle watch.
    const isIdle = !this.#isReading && this.#target === this.#position;
    if (isIdle && concerning.length === 0) {
      this.#target = last;
      this.#position = last;
      return;
    }
    if (this.#pending.length + concerning.length > MAX_PENDING) this.#fallBehind(last);
    else for (const { revision } of concerning) this.#pending.push(revision);
    this.#target = last;
    this.#wake();
  }

  #concerns({ key, uid, verb }: Change): boolean {
    const { resource, namespace, name, uid: wantedUid, verb: wantedVerb } = this.#options.conditions;
    return (
      (resource === undefined || (resource.group === key.group && resource.resource === key.resource)) &&
      (namespace === undefined || namespace === key.namespace) &&
      (name === undefined || name === key.name) &&
      (wantedUid === undefined || wantedUid === uid) &&
      (wantedVerb === undefined || wantedVerb === verb)
    );
  }

  /** Reads and sends the next rows. */
  async #read(take: TakeEvent, signal: AbortSignal): Promise<void> {
    this.#isReading = true;
    try {
      const full = await this.#readAndSend(take, signal);
      this.#failures = 0;
      if (full !== undefined) await untilTaken(full.taken, signal);
    } catch (error) {
      if (failureOf(error, 'unavailable') === undefined) throw error;
      this.#failures += 1;
      await pause(pauseAfter(this.#failures, RETRIES), signal);
    } finally {
      this.#isReading = false;
    }
  }

  /** When a slow reader would hold many rows in memory, drops them and returns what to wait for. */
  async #readAndSend(take: TakeEvent, signal: AbortSignal): Promise<Full | undefined> {
    const page = await (this.#behindUpTo > this.#position ? this.#readLog() : this.#readPending());
    return page === undefined ? undefined : this.#sendAll(page, take, signal);
  }

  async #readLog(): Promise<Found> {
    const { history, conditions } = this.#options;
    const upTo = this.#behindUpTo;
    const range = { after: this.#position, upTo, limit: this.#rowsAtOnce };
    const { rows, next } = await history.rows({
      ...conditions,
      ...range,
      order: 'oldest first',
      states: 'both',
    });
    return { rows, upTo: next ?? upTo };
  }

  /** Undefined: rows are missing, and the log must be read instead. */
  async #readPending(): Promise<Found | undefined> {
    const target = this.#target;
    const revisions = this.#pending.slice(0, this.#rowsAtOnce);
    const upTo = revisions.length === this.#pending.length ? target : revisions.at(-1);
    const rows = await this.#options.shared.read(revisions).catch((error: unknown) => {
      if (failureOf(error, 'compacted') !== undefined) return undefined;
      throw error;
    });
    if (rows !== undefined && upTo !== undefined) return { rows, upTo };
    this.#fallBehind(this.#target);
    return undefined;
  }

  async #sendAll({ rows, upTo }: Found, take: TakeEvent, signal: AbortSignal): Promise<Full | undefined> {
    let waitingBytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
    for (const [at, row] of rows.entries()) {
      const event = await this.#options.toEvent(row);
      if (signal.aborted) return undefined;
      const full = event === undefined ? undefined : take(event);
      waitingBytes -= sizeOf(row);
      this.#moveTo(row.revision);
      if (full === undefined) continue;
      if (waitingBytes <= WAITING_BYTES) {
        await untilTaken(full, signal);
        continue;
      }
      this.#rowsAtOnce = at + 1;
      return { taken: full };
    }
    this.#rowsAtOnce = Math.min(MAX_ROWS, 2 * this.#rowsAtOnce);
    this.#moveTo(upTo);
    return undefined;
  }

  #moveTo(revision: Revision): void {
    this.#position = revision;
    const left = this.#pending.findIndex((pending) => pending > revision);
    if (left !== 0) this.#pending.splice(0, left < 0 ? this.#pending.length : left);
  }

  async #bookmark(take: TakeEvent, signal: AbortSignal): Promise<void> {
    this.#bookmarkIsDue = false;
    await this.#give(take, { type: 'BOOKMARK', revision: this.#position }, signal);
  }

  async #give(take: TakeEvent, event: WatchEvent, signal: AbortSignal): Promise<void> {
    const full = take(event);
    if (full !== undefined) await untilTaken(full, signal);
  }

  #sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (signal.aborted || this.#failure !== undefined) resolve();
    });
  }
}

/** Rows to send, and the position that the watch reaches with them. */
interface Found {
  readonly rows: readonly LoggedRevision[];
  readonly upTo: Revision;
}

interface Full {
  readonly taken: Promise<void>;
}

/** Waits until the reader can take more, or the watch ends. */
async function untilTaken(full: Promise<void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => resolve();
    signal.addEventListener('abort', stop, { once: true });
    full.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) resolve();
  });
}
