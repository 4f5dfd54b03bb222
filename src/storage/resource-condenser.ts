import type { Dictionary } from '../codec/condensing.ts';
import { chooseDictionary } from '../codec/dictionary-choice.ts';
import type { Steps } from '../util/turns.ts';
import type { CondensedSlab, KeptBytes } from './kept-bytes.ts';
import type { Slabs } from './slabs.ts';

/** Fewer bytes of a resource are not worth a dictionary. */
const LEAST_DUE_BYTES = 1024 * 1024;
/** Condensing takes up to 20 µs a kilobyte, and is done in one piece. */
const MOST_OBJECT_BYTES = 512 * 1024;
const SLAB_BYTES = 256 * 1024;
const SAMPLES = 200;

/**
 * ResourceCondenser condenses the objects of one resource, and moves what stays in slabs of which more than half was replaced.
 *
 * When objects change their shape, as with a new version of a controller, the dictionary no longer fits: another is chosen, from
 * objects of both shapes, and all are condensed anew. The old dictionary goes with the last slab that was made with it.
 */
export class ResourceCondenser {
  readonly #slabs: Slabs;
  readonly #onWork: () => void;
  readonly #made = new Set<Slab>();
  #due: KeptBytes[] = [];
  #dueBytes = 0;
  /** Slabs whose objects are to be moved. */
  #leaving: Slab[] = [];
  #dictionary: Dictionary | undefined;
  #fit = new Fit();
  /** What is filled: with condensed objects, and with others. */
  #current: Slab | undefined;
  #plain: Slab | undefined;

  /** `onWork` is called when there is something to do, perhaps again and again. */
  constructor(slabs: Slabs, onWork: () => void) {
    this.#slabs = slabs;
    this.#onWork = onWork;
  }

  get hasWork(): boolean {
    return this.#leaving.length > 0 || this.#dueBytes >= (this.#dictionary ? 1 : LEAST_DUE_BYTES);
  }

  /** Takes an object that has not been read for a while. */
  add(bytes: KeptBytes): void {
    if (bytes.sizeBytes > MOST_OBJECT_BYTES) return;
    this.#due.push(bytes);
    this.#dueBytes += bytes.sizeBytes;
    if (this.hasWork) this.#onWork();
  }

  /** Condenses what is due, unless `isWanted` says that it was read since. Yields after each object. */
  *work(isWanted: (bytes: KeptBytes) => boolean): Steps<void> {
    const due = this.#due.filter((bytes) => !bytes.isOver && !bytes.isCondensed && !isWanted(bytes));
    this.#due = [];
    this.#dueBytes = 0;
    yield;
    if (due.length > 0 && (this.#dictionary === undefined || this.#fit.isOver(this.#liveBytes())))
      yield* this.#renew(due);
    for (const bytes of due) {
      if (!bytes.isOver) this.#condense(bytes);
      yield;
    }
    const leaving = this.#leaving;
    this.#leaving = [];
    for (const slab of leaving) yield* this.#empty(slab);
    this.#dictionary?.rest();
  }

  *#renew(due: readonly KeptBytes[]): Steps<void> {
    const kept = [...this.#made].flatMap(({ members }) => members.filter(({ isOver }) => !isOver));
    yield;
    const samples = [...spread(due, SAMPLES), ...spread(kept, SAMPLES)].map((one) => Buffer.from(one.look()));
    this.#dictionary = yield* chooseDictionary(samples);
    this.#fit = new Fit();
    this.#current = undefined;
    this.#plain = undefined;
    for (const slab of this.#made) this.#leave(slab);
  }

  #condense(bytes: KeptBytes): void {
    const json = bytes.look();
    const condensed = this.#dictionary?.condense(json);
    this.#fit.add(json.length, condensed?.length ?? json.length);
    if (condensed === undefined) this.#plain = this.#put(bytes, json, this.#plain);
    else this.#current = this.#put(bytes, condensed, this.#current, this.#dictionary);
    bytes.rest();
  }

  /** Returns the slab that it was put into. */
  #put(bytes: KeptBytes, content: Buffer, current: Slab | undefined, dictionary?: Dictionary): Slab {
    let slab = current;
    if (slab === undefined || !slab.fits(content.length)) {
      const memory = this.#slabs.take(Math.max(SLAB_BYTES, content.length));
      slab = new Slab(memory, dictionary, (thin) => this.#leave(thin));
      this.#made.add(slab);
      current?.close();
    }
    slab.put(bytes, content);
    return slab;
  }

  #leave(slab: Slab): void {
    if (!this.#made.delete(slab)) return;
    this.#leaving.push(slab);
    this.#onWork();
  }

  /** Moves what is left: as it is, or condensed anew where the dictionary is another one by now. */
  *#empty({ members, dictionary }: Slab): Steps<void> {
    for (const bytes of members) {
      const content = bytes.condensed();
      if (bytes.isOver || content === undefined) continue;
      if (dictionary === undefined || dictionary !== this.#dictionary) this.#condense(bytes);
      else this.#current = this.#put(bytes, content, this.#current, dictionary);
      yield;
    }
  }

  #liveBytes(): number {
    let sizeBytes = 0;
    for (const { members } of this.#made)
      for (const one of members) if (!one.isOver) sizeBytes += one.sizeBytes;
    return sizeBytes;
  }
}

/** Returns so many of the items, at equal distances. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  const chosen: Item[] = [];
  for (let at = 0; at < items.length; at += step) {
    const item = items[Math.floor(at)];
    if (item !== undefined) chosen.push(item);
  }
  return chosen;
}

class Slab implements CondensedSlab {
  readonly bytes: Buffer;
  readonly dictionary: Dictionary | undefined;
  readonly members: KeptBytes[] = [];
  readonly #onThin: (slab: Slab) => void;
  #usedBytes = 0;
  #liveBytes = 0;
  #isClosed = false;

  constructor(bytes: Buffer, dictionary: Dictionary | undefined, onThin: (slab: Slab) => void) {
    this.bytes = bytes;
    this.dictionary = dictionary;
    this.#onThin = onThin;
  }

  fits(sizeBytes: number): boolean {
    return this.#usedBytes + sizeBytes <= this.bytes.length;
  }

  put(member: KeptBytes, content: Buffer): void {
    const [offset, sizeBytes] = [this.#usedBytes, content.length];
    content.copy(this.bytes, offset);
    this.#usedBytes += sizeBytes;
    this.#liveBytes += sizeBytes;
    this.members.push(member);
    member.moveTo({ slab: this, offset, sizeBytes });
  }

  /** No more objects come. */
  close(): void {
    this.#isClosed = true;
    this.release(0);
  }

  release(sizeBytes: number): void {
    this.#liveBytes -= sizeBytes;
    if (this.#isClosed && this.#liveBytes * 2 < this.bytes.length) this.#onThin(this);
  }
}

/** How well a dictionary fits: at first, and lately. */
class Fit {
  #allBytes = 0;
  #late = { bytes: 0, condensed: 0 };
  #firstShare: number | undefined;
  #lateShare = 0;

  add(bytes: number, condensed: number): void {
    this.#allBytes += bytes;
    this.#late.bytes += bytes;
    this.#late.condensed += condensed;
    if (this.#late.bytes < LEAST_DUE_BYTES) return;
    this.#lateShare = this.#late.condensed / this.#late.bytes;
    this.#firstShare ??= this.#lateShare;
    this.#late = { bytes: 0, condensed: 0 };
  }

  /**
   * Whether objects lately became half as large again as at first. A new dictionary costs as much as condensing all objects, so
   * that many must have been condensed since the last one.
   */
  isOver(liveBytes: number): boolean {
    if (this.#firstShare === undefined || this.#allBytes < liveBytes) return false;
    return this.#lateShare > this.#firstShare * 1.5;
  }
}
