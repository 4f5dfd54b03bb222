import { AddedEvent } from '../storage/added-event.ts';
import type { History, LoggedRevision } from '../storage/history.ts';
import type { LogProgress } from '../storage/log-progress.ts';
import { NO_REVISION, type Revision } from '../storage/revision.ts';
import type { Change } from '../storage/revision-log.ts';
import type { Entry, TakeEvent, WatchEvent } from '../storage/store.ts';
import type { RowConditions } from './revision-query.ts';

const BOOKMARK_MS = 1000;
/** Rows that are read at a time, with their states. */
const ROWS = 100;

export interface RevisionWatchOptions {
  readonly history: History;
  readonly progress: LogProgress;
  readonly conditions: RowConditions;
  readonly bookmarks: boolean;
  readonly after: Revision;
  /** The client did not say after which revision, and is told where the watch begins. */
  readonly tellsBegin: boolean;
  /** Undefined: the client is not told of it. */
  tell(row: LoggedRevision): Promise<Entry | undefined>;
}

/**
 * One watch of revisions. The feed of the log says that there is something new; the rows themselves, with who wrote them, are read
 * from the log, from where the watch has got to up to where the feed has. A reader that does not keep up is behind in the log, and
 * nothing is kept for it.
 */
export class RevisionWatch {
  readonly #options: RevisionWatchOptions;
  /** Told up to here. */
  #position: Revision;
  /** There may be something to tell up to here. */
  #target: Revision;
  #isReading = false;
  /** What was applied before this was followed is not known, and is read. */
  #isBehind = false;
  #failure: { readonly error: unknown } | undefined;
  #wake: () => void = () => {};
  #bookmarkIsDue = false;

  constructor(options: RevisionWatchOptions) {
    this.#options = options;
    this.#position = options.after;
    this.#target = options.after;
  }

  /** @throws StorageError compacted, when the history that it follows is gone; what `take` threw */
  async run(take: TakeEvent, signal: AbortSignal): Promise<void> {
    const { progress, bookmarks } = this.#options;
    const wake = (): void => this.#wake();
    const unfollow = progress.follow({
      applied: (changes) => this.#applied(changes),
      ended: (error) => {
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
    // What came before this was followed.
    if (progress.applied > this.#target) this.#target = progress.applied;
    this.#isBehind = progress.applied === NO_REVISION;
    try {
      const begin = { type: 'INITIAL_EVENTS_END', revision: this.#position } as const;
      if (this.#options.tellsBegin) await this.#give(take, begin, signal);
      while (!signal.aborted) {
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#target > this.#position) await this.#read(take, signal);
        else if (this.#bookmarkIsDue) await this.#bookmark(take);
        else await this.#sleep(signal);
      }
    } finally {
      signal.removeEventListener('abort', wake);
      clearInterval(timer);
      unfollow();
    }
  }

  #applied(changes: readonly Change[]): void {
    const last = changes.at(-1)?.revision;
    if (last === undefined || last <= this.#target) return;
    // What does not concern the watch is passed over without a question.
    const isIdle = !this.#isReading && this.#target === this.#position;
    const concerns =
      this.#isBehind || changes.some((change) => change.revision > this.#position && this.#concerns(change));
    this.#target = last;
    if (isIdle && !concerns) this.#position = last;
    else this.#wake();
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

  /** One page. */
  async #read(take: TakeEvent, signal: AbortSignal): Promise<void> {
    const { history, conditions } = this.#options;
    this.#isReading = true;
    this.#isBehind = false;
    try {
      const upTo = this.#target;
      const page = await history.rows({
        ...{ ...conditions, after: this.#position, upTo, order: 'oldest first', limit: ROWS, states: 'both' },
      });
      for (const row of page.rows) {
        const entry = await this.#options.tell(row);
        if (signal.aborted) return;
        if (entry !== undefined) await this.#give(take, new AddedEvent(entry), signal);
        this.#position = row.revision;
      }
      this.#position = page.next ?? upTo;
    } finally {
      this.#isReading = false;
    }
  }

  async #bookmark(take: TakeEvent): Promise<void> {
    this.#bookmarkIsDue = false;
    await take({ type: 'BOOKMARK', revision: this.#position });
  }

  /** Until the reader can take more, or the watch ends. */
  async #give(take: TakeEvent, event: WatchEvent, signal: AbortSignal): Promise<void> {
    const full = take(event);
    if (full === undefined) return;
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => resolve();
      signal.addEventListener('abort', stop, { once: true });
      full.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
    });
  }

  #sleep(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (signal.aborted || this.#failure !== undefined) resolve();
    });
  }
}
