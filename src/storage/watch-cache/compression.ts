import { IdleCollection } from '../../util/give-back-memory.ts';
import { Pace } from '../../util/turns.ts';
import { CachedEntry } from '../cached-entry.ts';
import { canCompress, pack } from '../compressed-block.ts';
import { toPosition } from '../key.ts';
import type { LogFollower } from '../log-progress.ts';
import type { ResourceCache } from './resource-cache.ts';

export interface CompressionOptions {
  /** What was not written for so many turns is compressed. */
  readonly afterTurns?: number;
  /** A smaller resource is left alone, because inflating what is read first takes time. */
  readonly leastBytes?: number;
  /** Another thread compresses, and the feed brings it. */
  readonly isElsewhere?: boolean;
  /** Given by tests. */
  readonly collection?: Pick<IdleCollection, 'begin'>;
}

/**
 * Compression keeps in compressed blocks what is written seldom: 100,000 pods, 732 MB of JSON, take 60 MB. A resource is
 * walked only when enough of it was written, so that a cluster at rest, and a small one, costs nothing.
 *
 * With serving threads, the main one compresses for all: each takes the same bytes for its own entries.
 */
export class Compression {
  readonly #caches: () => Iterable<ResourceCache>;
  readonly #followers: Iterable<Pick<LogFollower, 'packed'>>;
  readonly #afterTurns: number;
  readonly #leastBytes: number;
  readonly #isElsewhere: boolean;
  readonly #collection: Pick<IdleCollection, 'begin'>;
  #turns = 0;
  isAtWork = false;

  /** Followers hear what was compressed. */
  constructor(
    caches: () => Iterable<ResourceCache>,
    followers: Iterable<Pick<LogFollower, 'packed'>>,
    {
      afterTurns = 5,
      leastBytes = 128 * 1024 * 1024,
      isElsewhere = !canCompress,
      collection = new IdleCollection(),
    }: CompressionOptions = {},
  ) {
    this.#caches = caches;
    this.#followers = followers;
    this.#afterTurns = afterTurns;
    this.#leastBytes = leastBytes;
    this.#isElsewhere = isElsewhere;
    this.#collection = collection;
  }

  /** Called each second. */
  turn(): void {
    this.#turns += 1;
    if (this.#turns % COOL_EVERY === 0) for (const cache of this.#caches()) cache.cool();
    this.#giveBack();
    if (this.#isElsewhere || this.#turns % this.#afterTurns !== 0 || this.isAtWork) return;
    this.isAtWork = true;
    void this.#compress()
      // There was no memory for it: what is left is tried again.
      .catch(() => {})
      .finally(() => {
        this.isAtWork = false;
      });
  }

  #giveBack(): void {
    let freedBytes = 0;
    for (const cache of this.#caches()) freedBytes += cache.freedBytes;
    if (freedBytes < COLLECTED_BYTES) return;
    for (const cache of this.#caches()) cache.freedBytes = 0;
    this.#collection.begin();
  }

  async #compress(): Promise<void> {
    for (const cache of this.#caches()) {
      const { plainBytes, sizeBytes } = cache;
      if (sizeBytes < this.#leastBytes || plainBytes * LEAST_SHARE < sizeBytes) continue;
      // What is written during the walk counts for the next.
      const left = await this.#compressAll(cache);
      cache.plainBytes += left - plainBytes;
    }
  }

  /** Compresses what the walk before has seen too. Returns the bytes that are left for later. */
  async #compressAll(cache: ResourceCache): Promise<number> {
    const pace = new Pace({ stepsBetween: 1 });
    let left = 0;
    let gathered: CachedEntry[] = [];
    let gatheredBytes = 0;
    for (const entry of cache.entries()) {
      if (pace.isOver()) await pace.rest();
      if (!(entry instanceof CachedEntry) || entry.isSettled) continue;
      if (!entry.isSeen) {
        entry.isSeen = true;
        left += entry.sizeBytes;
        continue;
      }
      gathered.push(entry);
      gatheredBytes += entry.sizeBytes;
      if (gatheredBytes < BLOCK_BYTES) continue;
      this.#compressTogether(cache, gathered);
      [gathered, gatheredBytes] = [[], 0];
    }
    if (gathered.length > 0) this.#compressTogether(cache, gathered);
    return left;
  }

  #compressTogether(cache: ResourceCache, entries: readonly CachedEntry[]): void {
    const bytes = pack(entries.map(({ json }) => json));
    if (bytes === undefined) {
      for (const entry of entries) entry.leavePlain();
      return;
    }
    const positions = entries.map((entry) => toPosition(entry));
    const revisions = entries.map(({ revision }) => revision);
    const packed = { resource: cache.resource, bytes, positions, revisions };
    cache.pack(packed);
    for (const follower of this.#followers) follower.packed?.(packed);
  }
}

/** A walk pays when so much of a resource may be compressed: one in so many bytes. */
const LEAST_SHARE = 32;
/** A collection is worth so much; with threads, the last of them to collect gives it back. */
const COLLECTED_BYTES = 64 * 1024 * 1024;
/** What was not read for a minute is inflated no longer. */
const COOL_EVERY = 60;
/** Larger ones save little more, and a get of an object that was not read of late would wait longer. */
const BLOCK_BYTES = 64 * 1024;
