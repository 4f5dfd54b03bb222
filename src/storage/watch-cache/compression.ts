import { Pace } from '../../util/turns.ts';
import { CachedEntry } from '../cached-entry.ts';
import { CompressedBlock, canCompress, InflatedBlocks } from '../compressed-block.ts';
import type { Entry } from '../store.ts';
import type { ResourceCache } from './resource-cache.ts';

export interface CompressionOptions {
  /** What was not written for so many turns is compressed. */
  readonly afterTurns?: number;
  /** A smaller resource is left alone, because inflating what is read first takes time. */
  readonly leastBytes?: number;
}

/**
 * Compression keeps in compressed blocks what is written seldom: 100,000 pods, 732 MB of JSON, take 60 MB. A resource is
 * walked only when enough of it was written, so that a cluster at rest, and a small one, costs nothing.
 */
export class Compression {
  readonly #caches: () => Iterable<ResourceCache>;
  readonly #afterTurns: number;
  readonly #leastBytes: number;
  readonly #inflated = new InflatedBlocks();
  #turns = 0;
  isAtWork = false;

  constructor(
    caches: () => Iterable<ResourceCache>,
    { afterTurns = 5, leastBytes = 128 * 1024 * 1024 }: CompressionOptions = {},
  ) {
    this.#caches = caches;
    this.#afterTurns = afterTurns;
    this.#leastBytes = leastBytes;
  }

  /** Called each second. */
  turn(): void {
    this.#turns += 1;
    if (!canCompress || this.#turns % this.#afterTurns !== 0 || this.isAtWork) return;
    if (this.#turns % (this.#afterTurns * COOL_EVERY) === 0) this.#inflated.cool();
    this.isAtWork = true;
    void this.#compress()
      // There was no memory for it: what is left is tried again.
      .catch(() => {})
      .finally(() => {
        this.isAtWork = false;
      });
  }

  async #compress(): Promise<void> {
    for (const cache of this.#caches()) {
      const { plainBytes, sizeBytes } = cache;
      if (sizeBytes < this.#leastBytes || plainBytes * LEAST_SHARE < sizeBytes) continue;
      // What is written during the walk counts for the next.
      const left = await this.#compressAll(cache.entries());
      cache.plainBytes += left - plainBytes;
    }
  }

  /** Compresses what the walk before has seen too. Returns the bytes that are left for later. */
  async #compressAll(entries: Iterable<Entry>): Promise<number> {
    const pace = new Pace({ stepsBetween: 1 });
    let left = 0;
    let gathered: CachedEntry[] = [];
    let gatheredBytes = 0;
    for (const entry of entries) {
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
      this.#compressTogether(gathered);
      [gathered, gatheredBytes] = [[], 0];
    }
    if (gathered.length > 0) this.#compressTogether(gathered);
    return left;
  }

  #compressTogether(entries: readonly CachedEntry[]): void {
    const block = CompressedBlock.of(
      entries.map(({ json }) => json),
      this.#inflated,
    );
    for (const [part, entry] of entries.entries()) entry.settle(block, part);
  }
}

/** A walk pays when so much of a resource may be compressed: one in so many bytes. */
const LEAST_SHARE = 32;
/** What was not read for a minute is inflated no longer. */
const COOL_EVERY = 12;
/** Larger ones save little more, and a get of an object that was not read of late would wait longer. */
const BLOCK_BYTES = 64 * 1024;
