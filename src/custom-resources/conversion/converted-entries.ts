import { LRUCache } from 'lru-cache';
import type { ApiObject } from '../../api/object-meta.ts';
import type { Entry } from '../../storage/store.ts';
import { mapInTurns } from '../../util/turns.ts';

/** The object of an entry, with the entry. */
export interface ParsedEntry {
  readonly entry: Entry;
  readonly object: ApiObject;
  readonly isOutdated: boolean;
}

/** How to convert an entry between versions. */
interface EntryConversion {
  /** Parses the object in its own version. It belongs to the caller. */
  parse(entry: Entry): ParsedEntry;
  /** Converts in the order of `objects`. @throws StatusError */
  convert(objects: readonly ApiObject[]): Promise<readonly ApiObject[]>;
  /** The entry with the converted object. */
  finish(parsed: ParsedEntry): Entry;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** The webhook may be replaced by one that converts differently, which the definition does not show. */
const MAX_AGE_MS = 60_000;
/** Bytes of an entry besides its own. */
const OVERHEAD_BYTES = 500;

/** For all definitions. The key consists of the conversion, the object, and its state. */
const converted = new LRUCache<string, Entry>({
  maxSize: MAX_BYTES,
  maxEntrySize: MAX_BYTES / 8,
  sizeCalculation: ({ json }) => json.length + OVERHEAD_BYTES,
  ttl: MAX_AGE_MS,
});

let conversions = 0;

/**
 * Caches entries that a webhook converted to one version. A state of an object is converted once for concurrent and soon
 * following readers.
 */
export class ConvertedEntries {
  readonly #conversion: EntryConversion;
  readonly #id: number;
  readonly #underWay = new Map<string, Promise<Entry>>();

  constructor(conversion: EntryConversion) {
    this.#conversion = conversion;
    conversions += 1;
    this.#id = conversions;
  }

  /** Converts in order, with one call for those not cached. @throws StatusError */
  readAll(entries: readonly Entry[]): readonly Entry[] | Promise<readonly Entry[]> {
    const known = entries.map((entry) => this.find(entry));
    if (known.every(isDefined)) return known;
    return this.#readUnknown(entries, known);
  }

  #keyOf = ({ uid, revision }: Entry): string => `${this.#id}/${uid}/${revision}`;

  /** The cached conversion of an entry. */
  find(entry: Entry): Entry | undefined {
    return converted.get(this.#keyOf(entry));
  }

  #readUnknown(entries: readonly Entry[], known: readonly (Entry | undefined)[]): Promise<Entry[]> {
    const missing = entries.filter(
      (entry, at) => known[at] === undefined && !this.#underWay.has(this.#keyOf(entry)),
    );
    if (missing.length > 0) this.#begin(missing);
    return Promise.all(
      entries.map((entry, at) => known[at] ?? this.#underWay.get(this.#keyOf(entry)) ?? entry),
    );
  }

  #begin(entries: readonly Entry[]): void {
    const all = this.#convert(entries);
    for (const [at, entry] of entries.entries()) {
      const key = this.#keyOf(entry);
      const one = all.then((results) => results[at] ?? entry).finally(() => this.#underWay.delete(key));
      // Prevents an unhandled rejection; callers await the promise itself.
      one.catch(() => {});
      this.#underWay.set(key, one);
    }
  }

  async #convert(entries: readonly Entry[]): Promise<Entry[]> {
    const { parse, convert, finish } = this.#conversion;
    const parsed = await mapInTurns(entries, parse);
    const objects = await convert(parsed.map(({ object }) => object));
    return mapInTurns(parsed, (one, at) => {
      const read = finish({ ...one, object: objects[at] ?? one.object });
      converted.set(this.#keyOf(one.entry), read);
      return read;
    });
  }
}

const isDefined = (entry: Entry | undefined): entry is Entry => entry !== undefined;
