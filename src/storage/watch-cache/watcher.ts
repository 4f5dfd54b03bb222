import { Pace } from '../../util/end-turn.ts';
import type { StorageError } from '../errors.ts';
import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import type { RevisionReader } from '../revision-log.ts';
import type { Entry, WatchQuery } from '../store.ts';
import { SharedEvent } from './event.ts';
import type { Audience, ResourceCache } from './resource-cache.ts';

/** Changes read from SQL at a time, for a watcher from before the cache's memory. */
const REPLAY_PAGE = 500;
const BOOKMARK_EVERY_MS = 60_000;
/** How long before its deadline a watch gets a last bookmark. */
const BOOKMARK_BEFORE_END_MS = 2000;

/**
 * One watch. While its client keeps up it is `live` and is offered each change as it is applied. A client whose buffer is
 * full is set aside: nothing is kept for it but the revision it has got to. When its buffer has drained it replays from
 * there, from memory or from SQL, and becomes live again. It never delays a commit or another watcher.
 */
export class Watcher implements Audience {
  readonly scope: Scope;
  readonly #query: WatchQuery;
  readonly #cache: ResourceCache;
  readonly #reader: RevisionReader;
  readonly #applied: () => Revision;
  readonly #signal: AbortSignal;
  #position: Revision;
  #live = false;
  #blocked = false;
  #nextBookmarkMs: number;
  #failure: StorageError | undefined;
  /** Ends the present wait, whatever it is for. Waits are not raced against a promise that outlives them: that would leak. */
  #wake: () => void = () => {};
  readonly #onAbort = (): void => this.#wake();

  constructor(options: {
    query: WatchQuery;
    cache: ResourceCache;
    reader: RevisionReader;
    applied: () => Revision;
    position: Revision;
    signal: AbortSignal;
  }) {
    this.scope = options.query.scope;
    this.#query = options.query;
    this.#cache = options.cache;
    this.#reader = options.reader;
    this.#applied = options.applied;
    this.#position = options.position;
    this.#signal = options.signal;
    this.#nextBookmarkMs = nextBookmark(options.query.deadline);
  }

  /** Called for each change while it is applied; must not wait. */
  offer(event: SharedEvent): void {
    if (!this.#live || event.revision <= this.#position) return;
    this.#send(event);
  }

  /**
   * The state to begin with, one frame after the other as the client takes them.
   * @throws StorageError compacted when the history is gone meanwhile
   */
  async sendState(entries: Iterable<Entry>): Promise<void> {
    const { encoder, sink, matches } = this.#query;
    const pace = new Pace(8);
    this.#signal.addEventListener('abort', this.#onAbort);
    try {
      for (const entry of entries) {
        if (pace.isOver()) await pace.rest();
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#signal.aborted) return;
        if (matches !== undefined && !matches(entry)) continue;
        const full = !sink.write(encoder.encode({ type: 'ADDED', entry, revision: entry.revision }));
        if (full) await this.#wait(sink.drained());
      }
      if (this.#failure !== undefined) throw this.#failure;
    } finally {
      this.#signal.removeEventListener('abort', this.#onAbort);
    }
    if (!this.#query.initialEventsEnd || this.#signal.aborted) return;
    sink.write(encoder.bookmark(this.#position, true));
  }

  /**
   * Follows the changes until the signal aborts.
   * @throws StorageError compacted when the client was too slow for the history, or the history is gone
   */
  async follow(): Promise<void> {
    this.#signal.addEventListener('abort', this.#onAbort);
    this.#cache.addWatcher(this);
    try {
      while (!this.#signal.aborted) {
        await this.#catchUp();
        if (!this.#blocked) await this.#wait();
        if (this.#failure !== undefined) throw this.#failure;
        if (this.#blocked && !this.#signal.aborted) await this.#wait(this.#query.sink.drained());
        this.#blocked = false;
      }
    } finally {
      this.#live = false;
      this.#signal.removeEventListener('abort', this.#onAbort);
      this.#cache.removeWatcher(this);
    }
  }

  /** Ends the watch from outside. */
  end(error: StorageError): void {
    this.#failure = error;
    this.#live = false;
    this.#wake();
  }

  bookmarkIfDue(nowMs: number): void {
    if (!this.#query.bookmarks || !this.#live || nowMs < this.#nextBookmarkMs) return;
    this.#nextBookmarkMs = nextBookmark(this.#query.deadline);
    const applied = this.#applied();
    if (applied < this.#position) return;
    this.#position = applied;
    if (this.#query.sink.write(this.#query.encoder.bookmark(applied, false))) return;
    this.#block();
  }

  /** Until something happens: the client's buffer is full, the watch is to end, or what is given resolves. */
  #wait(until?: Promise<void>): Promise<void> {
    if (this.#signal.aborted || this.#failure !== undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#wake = resolve;
      until?.then(resolve, reject);
    });
  }

  #block(): void {
    this.#blocked = true;
    this.#live = false;
    this.#wake();
  }

  #send(event: SharedEvent): void {
    this.#position = event.revision;
    const type = event.typeFor(this.#query.matches);
    if (type === undefined) return;
    if (!this.#query.sink.write(event.frame(type, this.#query.encoder))) this.#block();
  }

  /** From the position to now. Becomes live in the same turn in which nothing is left, so nothing can come between. */
  async #catchUp(): Promise<void> {
    while (!this.#signal.aborted && this.#failure === undefined) {
      if (this.#position < this.#cache.recent.floor) {
        await this.#replayFromSql();
        if (this.#blocked) return;
        continue;
      }
      this.#replayFromMemory();
      if (this.#blocked) return;
      this.#live = true;
      return;
    }
  }

  #replayFromMemory(): void {
    const { recent } = this.#cache;
    for (let at = recent.indexAfter(this.#position); ; at += 1) {
      const event = recent.at(at);
      if (event === undefined) return;
      if (inScope(event, this.scope)) this.#send(event);
      else this.#position = event.revision;
      if (this.#blocked) return;
    }
  }

  async #replayFromSql(): Promise<void> {
    const upTo = this.#cache.recent.floor;
    const changes = await this.#reader.changesBetween({
      resource: this.#cache.resource,
      scope: this.scope,
      after: this.#position,
      upTo,
      limit: REPLAY_PAGE,
    });
    for (const change of changes) {
      if (this.#signal.aborted || this.#failure !== undefined) return;
      const entry = this.#cache.toEntry(change);
      const previous =
        change.previousJson === undefined
          ? undefined
          : this.#cache.toEntry({
              ...change,
              json: change.previousJson,
              revision: change.previous ?? change.revision,
            });
      const { revision } = change;
      const shown = change.verb === 'delete' ? { entry: undefined, previous: entry } : { entry, previous };
      this.#send(new SharedEvent({ revision, ...shown }));
      if (this.#blocked) return;
    }
    if (changes.length < REPLAY_PAGE && this.#position < upTo) this.#position = upTo;
  }
}

function inScope(event: SharedEvent, { namespace, name }: Scope): boolean {
  const object = event.entry ?? event.previous;
  if (object === undefined) return false;
  return (
    (namespace === undefined || object.namespace === namespace) &&
    (name === undefined || object.name === name)
  );
}

/** About a minute ahead, spread so that watches begun together do not all get theirs together; or just before the end. */
function nextBookmark(deadline: number): number {
  const now = Date.now();
  const regular = now + BOOKMARK_EVERY_MS * (0.9 + Math.random() * 0.2);
  const last = deadline - BOOKMARK_BEFORE_END_MS;
  return last > now ? Math.min(regular, last) : regular;
}
