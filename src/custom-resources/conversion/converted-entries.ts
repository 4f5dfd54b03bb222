import { LRUCache } from 'lru-cache';
import type { ApiObject } from '../../api/object-meta.ts';
import type { Entry } from '../../storage/store.ts';
import { mapInTurns } from '../../util/concurrency.ts';

/** The object of an entry, and what the entry says of it. */
export interface ParsedEntry {
  readonly entry: Entry;
  readonly object: ApiObject;
  readonly isOutdated: boolean;
}

/** How an entry of one version becomes one of another. */
export interface EntryConversion {
  /** As its own version has it. The object belongs to the caller. */
  parse(entry: Entry): ParsedEntry;
  /** In the order of `objects`. @throws StatusError */
  convert(objects: readonly ApiObject[]): Promise<readonly ApiObject[]>;
  /** The entry with the converted object. */
  finish(parsed: ParsedEntry): Entry;
}

const MAX_BYTES = 64 * 1024 * 1024;
/** A webhook may be replaced by one that converts otherwise, of which the definition says nothing. */
const MAX_AGE_MS = 60_000;
/** Of an entry beside its bytes. */
const OVERHEAD_BYTES = 500;

/** Of all definitions. The parts of a key: the conversion, the object, its state. */
const converted = new LRUCache<string, Entry>({
  maxSize: MAX_BYTES,
  maxEntrySize: MAX_BYTES / 8,
  sizeCalculation: ({ json }) => json.length + OVERHEAD_BYTES,
  ttl: MAX_AGE_MS,
});

let conversions = 0;

/**
 * Entries in one version, of which a webhook is asked. A state of an object is converted once for all who want it at the same time,
 * and for those who come soon after.
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

  /** In their order. What is not known yet is asked for with one call. @throws StatusError */
  readAll(entries: readonly Entry[]): readonly Entry[] | Promise<readonly Entry[]> {
    const known = entries.map((entry) => this.find(entry));
    if (known.every(isDefined)) return known;
    return this.#readUnknown(entries, known);
  }

  #keyOf = ({ uid, revision }: Entry): string => `${this.#id}/${uid}/${revision}`;

  /** What is known of an entry without asking. */
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
      // Whoever asked waits for it, or has left.
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
