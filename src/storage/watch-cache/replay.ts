import { getOrAdd } from '../../util/get-or-add.ts';
import { endTurn } from '../../util/turns.ts';
import { failureOf } from '../errors.ts';
import type { Scope } from '../key.ts';
import type { Revision } from '../revision.ts';
import { type ChangeWithPrevious, mayHaveMore, type RevisionReader } from '../revision-log.ts';
import { AppliedChange } from './applied-change.ts';
import type { RecentEncodings } from './recent-encodings.ts';
import { covers, HistoryPage, type ReplayPage, ReplayPages } from './replay-pages.ts';
import type { WatchedResource } from './watched-resource.ts';

/** Changes read from SQL at a time. */
const PAGE = 500;
/** With this many requests of other scopes waiting, read all scopes at once. */
const WORTH_ALL = 8;
/** Watchers that go on in one turn of the event loop: each has a page of changes to send. */
const PER_TURN = 16;

/**
 * Replay reads the changes that a resource's memory has forgotten. After a restart all watchers need them, from much the same few
 * revisions: those that wait share each read, so that ten thousand cost the database little more than one. A watcher that comes a
 * moment later finds the page still there.
 */
export class Replay {
  readonly #reader: RevisionReader;
  readonly #encodings: RecentEncodings;
  readonly #pages = new ReplayPages();
  readonly #readings = new WeakMap<WatchedResource, SharedReading>();
  readonly #turnstile = new Turnstile();

  /** `encodings` keeps those of changes that many watchers get. */
  constructor(reader: RevisionReader, encodings: RecentEncodings) {
    this.#reader = reader;
    this.#encodings = encodings;
  }

  /**
   * Returns the first changes after a revision that is below the floor of the cache's memory.
   * @throws StorageError compacted, unavailable
   */
  async next(cache: WatchedResource, scope: Scope, after: Revision): Promise<ReplayPage> {
    const page = this.#pages.find(cache, scope, after) ?? (await this.#readingOf(cache).page(scope, after));
    await this.#turnstile.pass();
    return page.part(scope, after);
  }

  /** Called now and then: drops pages not requested lately. */
  turn(): void {
    this.#pages.turn();
  }

  #readingOf(cache: WatchedResource): SharedReading {
    return getOrAdd(
      this.#readings,
      cache,
      () => new SharedReading((scope, after) => this.#read(cache, scope, after)),
    );
  }

  async #read(cache: WatchedResource, scope: Scope, after: Revision): Promise<HistoryPage> {
    const { resource } = cache;
    const { floor } = cache.recent;
    const read = await this.#reader.changesBetween({ resource, scope, after, upTo: floor, limit: PAGE });
    const changes = read.map((change) => toApplied(change, cache, this.#encodings));
    const last = read.at(-1)?.revision;
    const upTo = last === undefined || !mayHaveMore(read, PAGE) ? floor : last;
    const page = new HistoryPage({ cache, scope, after, upTo, changes });
    this.#pages.add(page);
    return page;
  }
}

interface Request {
  readonly scope: Scope;
  readonly after: Revision;
  resolve(page: HistoryPage): void;
  reject(error: unknown): void;
}

/** SharedReading reads history of one resource, page by page, each for all it serves. */
class SharedReading {
  readonly #read: (scope: Scope, after: Revision) => Promise<HistoryPage>;
  #waiting: Request[] = [];
  #isReading = false;

  constructor(read: (scope: Scope, after: Revision) => Promise<HistoryPage>) {
    this.#read = read;
  }

  page(scope: Scope, after: Revision): Promise<HistoryPage> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ scope, after, resolve, reject });
      if (!this.#isReading) void this.#readAll();
    });
  }

  /** Reads while requests wait. Requests of one turn share the first read. */
  async #readAll(): Promise<void> {
    this.#isReading = true;
    await endTurn();
    for (let count = 0; ; count += 1) {
      const [longest] = this.#waiting;
      if (longest === undefined) break;
      // A page from the oldest revision serves most requests. Alternate, so that one far behind does not hold up the others.
      await this.#readFor(count % 2 === 0 ? this.#waiting.reduce(older, longest) : longest);
    }
    this.#isReading = false;
  }

  async #readFor({ scope, after }: Request): Promise<void> {
    const others = this.#waiting.filter((one) => !covers(scope, one.scope)).length;
    try {
      const page = await this.#read(others < WORTH_ALL ? scope : {}, after);
      for (const one of this.#take((request) => page.serves(request.scope, request.after))) one.resolve(page);
    } catch (error) {
      for (const one of this.#take((request) => request.after <= after || isBefore(request, error)))
        one.reject(error);
    }
  }

  #take(belongs: (request: Request) => boolean): Request[] {
    const taken = this.#waiting.filter(belongs);
    this.#waiting = this.#waiting.filter((request) => !belongs(request));
    return taken;
  }
}

const older = (one: Request, other: Request): Request => (other.after < one.after ? other : one);

/** `compacted` rejects the requests from before that revision; any other failure rejects all. */
function isBefore({ after }: Request, error: unknown): boolean {
  const failure = failureOf(error, 'compacted');
  return failure === undefined || after < failure.compacted;
}

/** Turnstile lets a few pass in each turn of the event loop, so that their work does not block it. */
class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #isTurning = false;

  pass(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isTurning) void this.#turn();
    });
  }

  async #turn(): Promise<void> {
    this.#isTurning = true;
    while (this.#waiting.length > 0) {
      for (const pass of this.#waiting.splice(0, PER_TURN)) pass();
      await endTurn();
    }
    this.#isTurning = false;
  }
}

function toApplied(
  change: ChangeWithPrevious,
  cache: WatchedResource,
  encodings: RecentEncodings,
): AppliedChange {
  const { revision, previousJson, unreadable, previousUnreadable } = change;
  const previous =
    previousJson === undefined || previousUnreadable !== undefined
      ? undefined
      : cache.toEntry({ ...change, json: previousJson, revision: change.previous ?? revision });
  if (change.verb === 'delete') {
    // Show the state before it where the last one is unreadable.
    const last = unreadable === undefined ? cache.toEntry(change) : previous;
    return new AppliedChange({ revision, entry: undefined, previous: last }, encodings);
  }
  // Send no event for an unreadable state, nor for the one before it.
  if (unreadable !== undefined)
    return new AppliedChange({ revision, entry: undefined, previous: undefined }, encodings);
  return new AppliedChange({ revision, entry: cache.toEntry(change), previous }, encodings);
}
