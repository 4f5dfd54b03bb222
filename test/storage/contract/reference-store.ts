import type { GroupResource } from '../../../src/api/names.ts';
import type { Caller } from '../../../src/request/api-request.ts';
import { AddedEvent } from '../../../src/storage/added-event.ts';
import type { PoolValue } from '../../../src/storage/allocations.ts';
import { CachedEntry, type FieldReader } from '../../../src/storage/cached-entry.ts';
import { DeliveredEvents } from '../../../src/storage/delivered-events.ts';
import { StorageError, type StorageFailure } from '../../../src/storage/errors.ts';
import { type ObjectKey, type Scope, toPosition } from '../../../src/storage/key.ts';
import { NO_REVISION, type Revision, toRevision } from '../../../src/storage/revision.ts';
import type { Write } from '../../../src/storage/revision-log.ts';
import type {
  Entry,
  EventStream,
  Freshness,
  ListPage,
  ListQuery,
  ObjectEventType,
  Store,
  TakeEvent,
  WatchQuery,
} from '../../../src/storage/store.ts';

/** How long a read waits for a revision that does not exist yet. */
const PATIENCE_MS = 100;

interface Logged {
  readonly verb: Write['verb'];
  readonly key: ObjectKey;
  /** The state after it, or the last one. */
  readonly entry: Entry;
  readonly previous: Entry | undefined;
}

/**
 * A store that is nothing but its log: every answer is found by going through all of it. Slow, without limits, and simple enough
 * to be believed.
 */
export class ReferenceStore implements Store {
  readonly #readFields: FieldReader;
  readonly #log: Logged[] = [];
  readonly #held = new Map<string, ObjectKey>();
  #revision = 0n;
  #compacted = NO_REVISION;
  #grown = Promise.withResolvers<void>();
  /** Rejects when what watches stand on is gone. */
  #standing = Promise.withResolvers<never>();

  constructor(readFields: FieldReader = () => ({})) {
    this.#readFields = readFields;
    this.#standing.promise.catch(() => {});
  }

  get current(): Revision {
    return toRevision(this.#revision);
  }

  async commit(write: Write): Promise<Revision> {
    const { key, verb, expected, holds } = write;
    if (write.caller?.aborted === true) throw new StorageError({ kind: 'abandoned' });
    const live = this.#find(key);
    const taken = holds?.find(({ kept, ...value }) => !kept && this.#isOthers(value, key));
    if (taken !== undefined) throw new StorageError({ kind: 'taken', key, value: taken });
    const failure = refusal(write, live);
    if (failure !== undefined) throw new StorageError(failure);
    if (holds !== undefined) this.#hold(key, holds);
    this.#revision += 1n;
    const stored = { key, uid: write.uid, json: write.json, revision: this.current };
    const entry = new CachedEntry(stored, this.#readFields);
    this.#log.push({ verb, key, entry, previous: expected === undefined ? undefined : live });
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
    return this.current;
  }

  async get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    if (freshness.kind === 'not-older') await this.#reach(freshness.revision, caller);
    return this.#find(key);
  }

  async list(query: ListQuery): Promise<ListPage> {
    const { freshness, scope, resource, after = '', limit, matches = () => true, caller } = query;
    if (freshness.kind === 'not-older' || freshness.kind === 'exact')
      await this.#reach(freshness.revision, caller);
    const revision = freshness.kind === 'exact' ? freshness.revision : this.current;
    this.#assertKept(revision);
    const isFiltered = query.matches !== undefined || scope.name !== undefined;
    const found = this.#stateAt(revision, resource, scope).filter(
      (entry) => toPosition(entry) > after && matches(entry),
    );
    const entries = limit === 0 ? found : found.slice(0, limit);
    const last = entries.at(-1);
    if (last === undefined || entries.length === found.length) return { revision, entries };
    const remaining = isFiltered ? {} : { remaining: found.length - entries.length };
    return { revision, entries, next: toPosition(last), ...remaining };
  }

  async watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    const { start } = query;
    if (start.kind === 'after') this.#assertKept(start.revision);
    else if (start.freshness.kind === 'not-older') await this.#reach(start.freshness.revision);
    const after = start.kind === 'after' ? start.revision : this.current;
    const standing = this.#standing.promise;
    return new DeliveredEvents(async (take, until) => {
      const over = new Promise<void>((resolve) => {
        if (until.aborted) resolve();
        until.addEventListener('abort', () => resolve());
      });
      await Promise.race([this.#deliver(query, after, take, until), standing, over]);
    }, signal);
  }

  /** The history up to now is gone, and with it every watch. */
  compact(): void {
    this.#compacted = this.current;
    this.forget();
  }

  /** Every watch ends, as those of a server do that begins afresh. */
  forget(): void {
    this.#standing.reject(this.#gone(this.current));
    this.#standing = Promise.withResolvers();
    this.#standing.promise.catch(() => {});
  }

  async #deliver(query: WatchQuery, after: Revision, take: TakeEvent, signal: AbortSignal): Promise<void> {
    const { resource, scope, start, matches = () => true } = query;
    if (start.kind === 'state') {
      const state = this.#stateAt(after, resource, scope).filter(matches);
      for (const entry of state) if (!signal.aborted) await take(new AddedEvent(entry));
      if (!signal.aborted) await take({ type: 'INITIAL_EVENTS_END', revision: after });
    }
    const retired = new Promise<void>((resolve) => {
      query.retired?.addEventListener('abort', () => resolve());
    });
    for (let at = 0; !signal.aborted; ) {
      const grown = this.#grown.promise;
      const logged = this.#log[at];
      if (logged === undefined) {
        if (query.retired?.aborted) return;
        if (query.bookmarks) await take({ type: 'BOOKMARK', revision: this.current });
        await Promise.race([grown, retired]);
        continue;
      }
      at += 1;
      if (logged.entry.revision > after && isInScope(logged.key, resource, scope))
        await tell(logged, matches, take);
    }
  }

  #find(key: ObjectKey): Entry | undefined {
    return this.#stateAt(this.current, key, key)[0];
  }

  /** In the order of their positions. */
  #stateAt(revision: Revision, resource: GroupResource, scope: Scope): Entry[] {
    const live = new Map<string, Entry>();
    for (const { verb, key, entry } of this.#log) {
      if (entry.revision > revision || !isInScope(key, resource, scope)) continue;
      if (verb === 'delete') live.delete(toPosition(key));
      else live.set(toPosition(key), entry);
    }
    return [...live].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
  }

  #isOthers(value: PoolValue, key: ObjectKey): boolean {
    const holder = this.#held.get(valueText(value));
    return holder !== undefined && keyText(holder) !== keyText(key);
  }

  #hold(key: ObjectKey, values: readonly PoolValue[]): void {
    for (const [value, holder] of this.#held) if (keyText(holder) === keyText(key)) this.#held.delete(value);
    for (const value of values) this.#held.set(valueText(value), key);
  }

  async #reach(revision: Revision, caller?: Caller): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (this.current < revision) {
      if (caller?.signal.aborted === true) throw new StorageError({ kind: 'abandoned' });
      if (Date.now() > deadline)
        throw new StorageError({ kind: 'future', requested: revision, current: this.current });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  #assertKept(revision: Revision): void {
    if (revision < this.#compacted) throw this.#gone(revision);
  }

  #gone(requested: Revision): StorageError {
    return new StorageError({ kind: 'compacted', requested, compacted: this.#compacted });
  }
}

function refusal({ key, verb, expected }: Write, live: Entry | undefined): StorageFailure | undefined {
  if (verb === 'create')
    return live === undefined ? undefined : { kind: 'exists', key, current: live.revision };
  if (live === undefined) return { kind: 'not-found', key };
  return live.revision === expected ? undefined : { kind: 'conflict', key, current: live.revision };
}

async function tell(
  { verb, entry, previous }: Logged,
  matches: (entry: Entry) => boolean,
  take: TakeEvent,
): Promise<void> {
  const { revision } = entry;
  const before = verb === 'delete' ? entry : previous;
  const after = verb === 'delete' ? undefined : entry;
  const wasIn = before !== undefined && matches(before);
  const isIn = after !== undefined && matches(after);
  const event = (type: ObjectEventType, shown: Entry) =>
    take({
      type,
      entry: shown,
      revision,
      encoded: (encoding) => encoding.encode({ type, entry: shown, revision }),
    });
  if (isIn) await event(wasIn ? 'MODIFIED' : 'ADDED', after);
  else if (wasIn) await event('DELETED', before);
}

const isInScope = (key: ObjectKey, { group, resource }: GroupResource, { namespace, name }: Scope): boolean =>
  key.group === group &&
  key.resource === resource &&
  (namespace === undefined || key.namespace === namespace) &&
  (name === undefined || key.name === name);

const valueText = ({ pool, value }: PoolValue): string => `${pool} ${value}`;
const keyText = ({ group, resource, ...rest }: ObjectKey): string =>
  `${group}/${resource} ${toPosition(rest)}`;
