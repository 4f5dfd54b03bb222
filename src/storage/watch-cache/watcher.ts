import type { GroupResource } from '../../api/names.ts';
import { NEVER } from '../../util/pause.ts';
import { Pace } from '../../util/turns.ts';
import { AddedEvent } from '../added-event.ts';
import { StorageError } from '../errors.ts';
import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { Bookmark, Entry, SoughtValue, TakeEvent, WatchEvent, WatchQuery } from '../store.ts';
import { type AppliedChange, isInScope } from './applied-change.ts';
import type { ChangeListener } from './listeners.ts';
import type { Replay } from './replay.ts';
import type { WatchedResource } from './watched-resource.ts';

/** Entries in pages, as they are read. */
type State = Iterable<Iterable<Entry>> | AsyncIterable<Iterable<Entry>>;

/** Where a watch begins: after a revision, and with the state at it if there is one. */
export interface WatchStart {
  readonly revision: Revision;
  readonly state: State | undefined;
}

/**
 * Watcher is one watch. While its reader keeps up it is `live` and is offered each change as it is applied. A reader that cannot
 * take more is set aside: only its revision is kept for it. When it can take more, the watcher replays from there, from memory or
 * from SQL, and becomes live again. It never delays a commit or another watcher.
 */
export class Watcher implements ChangeListener {
  readonly scope: Scope;
  readonly sought: SoughtValue | undefined;
  readonly #query: WatchQuery;
  readonly #cache: WatchedResource;
  readonly #replay: Replay;
  #state: State | undefined;
  #take: TakeEvent = () => undefined;
  /** Until the watch begins: never. */
  #signal = NEVER;
  #position: Revision;
  #live = false;
  /** Set while the reader is full; resolves when it can take more. */
  #full: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Ends the present wait. A wait is not raced against a promise that outlives it: that would leak. */
  #wake: () => void = () => {};
  readonly #onAbort = (): void => this.#wake();
  /** A reader that is behind is not woken: it ends when it has caught up. */
  readonly #onRetired = (): void => {
    if (this.#live) this.#wake();
  };

  constructor(options: {
    query: WatchQuery;
    cache: WatchedResource;
    replay: Replay;
    start: WatchStart;
  }) {
    this.scope = options.query.scope;
    this.sought = options.query.sought?.[0];
    this.#query = options.query;
    this.#cache = options.cache;
    this.#replay = options.replay;
    this.#state = options.start.state;
    this.#position = options.start.revision;
  }

  /**
   * Delivers until the signal aborts, or the query is retired and all changes are delivered.
   * @throws StorageError compacted when the reader fell behind the history, or it is gone; what `take` threw
   */
  async run(take: TakeEvent, signal: AbortSignal): Promise<void> {
    this.#take = take;
    this.#signal = signal;
    const { retired } = this.#query;
    signal.addEventListener('abort', this.#onAbort);
    retired?.addEventListener('abort', this.#onRetired);
    try {
      if (this.#state !== undefined) await this.#sendState(this.#state);
      await this.#follow();
      if (this.#failure !== undefined) throw this.#failure.error;
    } finally {
      signal.removeEventListener('abort', this.#onAbort);
      retired?.removeEventListener('abort', this.#onRetired);
    }
  }

  /** Called for each change while it is applied; must not wait. */
  offer(change: AppliedChange): void {
    if (!this.#live || change.revision <= this.#position) return;
    this.#tell(change);
  }

  notice(before: Revision): void {
    if (!this.#live) return;
    if (before > this.#position) this.#position = before;
    this.#live = false;
    this.#wake();
  }

  /** Ends the watch from outside. */
  end(error: StorageError): void {
    this.#fail(error);
  }

  get resource(): GroupResource {
    return this.#cache.resource;
  }

  /** Ends the watch because its resource has left, at the applied revision; another store can go on from where it has got to. */
  leave(applied: Revision): void {
    const after = this.#live && applied > this.#position ? applied : this.#position;
    this.#fail(new StorageError({ kind: 'moved', ...(this.#state === undefined ? { after } : {}) }));
  }

  /** Called now and then with the applied revision. */
  bookmark(bookmark: Bookmark): void {
    if (!this.#query.bookmarks || !this.#live || bookmark.revision < this.#position) return;
    this.#position = bookmark.revision;
    this.#give(bookmark);
  }

  async #sendState(state: State): Promise<void> {
    const pace = new Pace({ stepsBetween: 8 });
    for await (const page of state) {
      for (const entry of page) {
        if (pace.isOver()) await pace.rest();
        if (this.#isOver) return;
        if (this.#query.matches?.(entry) === false) continue;
        this.#give(new AddedEvent(entry));
        if (this.#full !== undefined) await this.#room();
      }
    }
    // Release it: a state may be of a million objects, and a snapshot costs more the longer it is held.
    this.#state = undefined;
    if (this.#isOver) return;
    this.#give({ type: 'INITIAL_EVENTS_END', revision: this.#position });
    await this.#room();
  }

  async #follow(): Promise<void> {
    this.#cache.addWatcher(this);
    try {
      while (!this.#isOver) {
        await this.#catchUp();
        if (this.#live && this.#query.retired?.aborted) return;
        if (this.#full === undefined) await this.#wait();
        await this.#room();
      }
    } finally {
      this.#live = false;
      this.#cache.removeWatcher(this);
    }
  }

  get #isOver(): boolean {
    return this.#signal.aborted || this.#failure !== undefined;
  }

  /** Waits until the reader can take more. */
  async #room(): Promise<void> {
    const full = this.#full;
    if (full === undefined) return;
    await this.#wait(full);
    this.#full = undefined;
  }

  /** Waits until the reader is full, the watch must end, or `until` resolves. */
  #wait(until?: Promise<void>): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#wake = resolve;
      until?.then(resolve, reject);
    });
  }

  /** Replays from the position to now. Becomes live in the turn in which nothing is left, so that no change is missed. */
  async #catchUp(): Promise<void> {
    while (!this.#isOver && this.#full === undefined) {
      if (this.#position < this.#cache.recent.floor) {
        await this.#replayHistory();
        continue;
      }
      this.#replayMemory();
      this.#live = this.#full === undefined && this.#failure === undefined;
      return;
    }
  }

  #replayMemory(): void {
    const { recent } = this.#cache;
    for (let at = recent.indexAfter(this.#position); ; at += 1) {
      const change = recent.at(at);
      if (change === undefined) return;
      if (isInScope(change, this.scope)) this.#tell(change);
      else this.#position = change.revision;
      if (this.#full !== undefined || this.#failure !== undefined) return;
    }
  }

  async #replayHistory(): Promise<void> {
    const { changes, upTo } = await this.#replay.next(this.#cache, this.scope, this.#position);
    for (const change of changes) {
      if (this.#isOver || this.#full !== undefined) return;
      this.#tell(change);
    }
    if (this.#full === undefined && this.#position < upTo) this.#position = upTo;
  }

  #tell(change: AppliedChange): void {
    this.#position = change.revision;
    const event = change.eventFor(this.#query.matches);
    if (event !== undefined) this.#give(event);
  }

  /** Keeps an error of this reader from the cache, which is serving all watches at this moment. */
  #give(event: WatchEvent): void {
    try {
      this.#full = this.#take(event);
    } catch (error) {
      this.#fail(error);
      return;
    }
    if (this.#full === undefined) return;
    this.#live = false;
    this.#wake();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#live = false;
    this.#wake();
  }
}
