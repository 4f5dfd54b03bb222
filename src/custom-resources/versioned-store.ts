import type { Caller } from '../request/api-request.ts';
import { DeliveredEvents } from '../storage/delivered-events.ts';
import { type ObjectKey, toPosition } from '../storage/key.ts';
import type { Revision } from '../storage/revision.ts';
import type { Write } from '../storage/revision-log.ts';
import type {
  Entry,
  EventStream,
  Freshness,
  ListPage,
  ListQuery,
  SharedEvent,
  Store,
  TakeEvent,
  WatchQuery,
} from '../storage/store.ts';
import { SelectedEvents } from './selected-events.ts';
import { TranslatedEvent } from './translated-event.ts';

/** Translates between stored objects and one version. Returns values at once where it can. */
export interface Translation {
  /** Returns the same entry if it needs no translation. */
  read(entry: Entry): Entry | Promise<Entry>;
  /** Translates many at once, in order. */
  readAll(entries: readonly Entry[]): readonly Entry[] | Promise<readonly Entry[]>;
  /** The stored form of an object of this version. */
  write(json: Buffer): Buffer | Promise<Buffer>;
  /** Aborts when the version changes. */
  readonly retired: AbortSignal;
  /** The entry that selectors match, of a stored or translated one. */
  select(entry: Entry): Entry;
  /** Whether translation calls a webhook for some objects. */
  readonly isRemote: boolean;
}

/** A store whose objects are read and written in one version of a custom resource. */
export class VersionedStore implements Store {
  readonly #store: Store;
  readonly #translation: Translation;
  /** Translated events, shared by all watchers of the version like stored ones. */
  readonly #events = new WeakMap<SharedEvent, SharedEvent | Promise<SharedEvent>>();

  constructor(store: Store, translation: Translation) {
    this.#store = store;
    this.#translation = translation;
  }

  async get(key: ObjectKey, freshness: Freshness, caller?: Caller): Promise<Entry | undefined> {
    const entry = await this.#store.get(key, freshness, caller);
    return entry === undefined ? undefined : this.#translation.read(entry);
  }

  async list(query: ListQuery): Promise<ListPage> {
    const { matches, ...rest } = query;
    if (this.#translation.isRemote && matches !== undefined) return this.#listSelected(rest, matches);
    const page = await this.#store.list(this.#selecting(query));
    const entries = await this.#translation.readAll(page.entries);
    return entries === page.entries ? page : { ...page, entries };
  }

  /** A webhook may change selected fields, so that it converts every possible match. */
  async #listSelected(
    { sought: _, ...query }: Omit<ListQuery, 'matches'>,
    matches: (entry: Entry) => boolean,
  ): Promise<ListPage> {
    const { limit } = query;
    const selected: Entry[] = [];
    let page = await this.#store.list({ ...query, limit: limit === 0 ? 0 : Math.max(limit, LEAST_READ) });
    for (;;) {
      const read = await this.#translation.readAll(page.entries);
      for (const entry of read) {
        if (!matches(this.#translation.select(entry))) continue;
        if (limit > 0 && selected.length === limit) return partOf(page.revision, selected);
        selected.push(entry);
      }
      if (page.next === undefined) return { revision: page.revision, entries: selected };
      const freshness = { kind: 'exact', revision: page.revision } as const;
      page = await this.#store.list({ ...query, limit: LEAST_READ, freshness, after: page.next });
    }
  }

  async watch(query: WatchQuery, signal: AbortSignal): Promise<EventStream> {
    const { matches, ...rest } = query;
    const { retired, isRemote } = this.#translation;
    if (isRemote && matches !== undefined) return this.#watchSelected({ ...rest, retired }, matches, signal);
    const stream = await this.#store.watch({ ...this.#selecting(query), retired }, signal);
    if (isRemote && query.start.kind === 'state') await this.#askAhead(query);
    return new DeliveredEvents((take) => stream.deliver(this.#translating(take)), signal);
  }

  /** As for lists, the webhook converts all objects before the selector is applied. */
  async #watchSelected(
    { sought: _, ...query }: WatchQuery,
    matches: (entry: Entry) => boolean,
    signal: AbortSignal,
  ): Promise<EventStream> {
    const { start, resource, scope } = query;
    const selects = (entry: Entry): boolean => matches(this.#translation.select(entry));
    const stream = await this.#store.watch(query, signal);
    const known =
      start.kind === 'after'
        ? await this.#store.list({ resource, scope, limit: 0, freshness: { ...start, kind: 'exact' } })
        : undefined;
    if (known === undefined) await this.#askAhead(query);
    const shown = await this.#translation.readAll(known?.entries ?? []);
    const uids = shown.filter(selects).map(({ uid }) => uid);
    return new DeliveredEvents((take) => {
      const events = new SelectedEvents(selects, uids);
      return stream.deliver(
        this.#translating((event) => ('entry' in event ? events.give(event, take) : take(event))),
      );
    }, signal);
  }

  /** Translates the initial state ahead, because a call per object would take long. Returns when the calls are made. */
  async #askAhead({ resource, scope }: WatchQuery): Promise<void> {
    const { entries } = await this.#store.list({ resource, scope, freshness: { kind: 'any' }, limit: 0 });
    const read = this.#translation.readAll(entries);
    // A failure here occurs again at its use.
    if (read instanceof Promise) read.catch(() => {});
  }

  async commit(write: Write): Promise<Revision> {
    const json = await this.#translation.write(write.json);
    return this.#store.commit(json === write.json ? write : { ...write, json });
  }

  /** Selectors match objects of this version, whose fields may differ from the stored ones; only a webhook changes labels. */
  #selecting<Query extends ListQuery | WatchQuery>(query: Query): Query {
    const { matches } = query;
    if (matches === undefined) return query;
    const sought = query.sought?.filter((one) => one.of === 'label') ?? [];
    return { ...query, sought, matches: (entry: Entry) => matches(this.#translation.select(entry)) };
  }

  #translating =
    (take: TakeEvent): TakeEvent =>
    (event) => {
      if (!('entry' in event)) return take(event);
      const shown = this.#shown(event);
      return shown instanceof Promise ? shown.then(take) : take(shown);
    };

  #shown(event: SharedEvent): SharedEvent | Promise<SharedEvent> {
    const known = this.#events.get(event);
    if (known !== undefined) return known;
    const entry = this.#translation.read(event.entry);
    if (entry === event.entry) return event;
    if (entry instanceof Promise) return this.#shownLater(event, entry);
    const shown = shownAs(entry, event);
    this.#events.set(event, shown);
    return shown;
  }

  /** After a failure, the next watcher retries. */
  #shownLater(event: SharedEvent, entry: Promise<Entry>): Promise<SharedEvent> {
    const shown = entry.then((one) => shownAs(one, event));
    this.#events.set(event, shown);
    shown.then(
      (one) => this.#events.set(event, one),
      () => this.#events.delete(event),
    );
    return shown;
  }
}

/** Entries read at once while searching for matches. */
const LEAST_READ = 500;

function partOf(revision: Revision, entries: readonly Entry[]): ListPage {
  const last = entries.at(-1);
  return { revision, entries, ...(last === undefined ? {} : { next: toPosition(last) }) };
}

const shownAs = (entry: Entry, { type, revision }: SharedEvent): SharedEvent =>
  new TranslatedEvent({ type, entry, revision });
