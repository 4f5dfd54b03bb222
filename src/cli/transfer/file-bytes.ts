import { constants } from 'node:buffer';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** More than nearly all objects have. */
const WINDOW = 256 * 1024;

/** By byte: 1 for those in the set. */
type ByteSet = Uint8Array;

export function byteSet(bytes: string): ByteSet {
  const set = new Uint8Array(256);
  for (const byte of Buffer.from(bytes)) set[byte] = 1;
  return set;
}

export const allBut = (set: ByteSet): ByteSet => set.map((is) => 1 - is);

const LINE_ENDS = byteSet('\n');

/** FileBytes reads a file of any size: it holds the bytes around the place that was read last. */
export class FileBytes {
  readonly size: number;
  readonly #file: number;
  readonly #window = Buffer.allocUnsafe(WINDOW);
  /** The part of the file that the window holds. */
  #from = 0;
  #to = 0;

  /** @throws Error */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    const about = fstatSync(this.#file);
    if (!about.isFile()) {
      this.close();
      throw new Error(`${path}: it is no file, and must be read more than once`);
    }
    this.size = about.size;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** The byte at this place; -1 behind the end. */
  at(place: number): number {
    if (place < this.#from || place >= this.#to) {
      if (place >= this.size) return -1;
      this.#hold(place);
    }
    return this.#window[place - this.#from] ?? -1;
  }

  /** Where these bytes are next, between the two places; -1: nowhere. */
  find(wanted: Buffer, from: number, to: number): number {
    const last = Math.min(to, this.size);
    let at = from;
    while (at + wanted.length <= last) {
      if (at < this.#from || at + wanted.length > this.#to) this.#hold(at);
      const end = Math.min(this.#to, last);
      const found = this.#window.subarray(0, end - this.#from).indexOf(wanted, at - this.#from);
      if (found >= 0) return this.#from + found;
      at = end - wanted.length + 1;
    }
    return -1;
  }

  /** Where a byte of this set is next, before the second place; else that place. */
  seek(set: ByteSet, from: number, to: number): number {
    let at = from;
    while (at < to) {
      if (at < this.#from || at >= this.#to) this.#hold(at);
      const end = Math.min(this.#to, to) - this.#from;
      for (let index = at - this.#from; index < end; index += 1)
        if (set[this.#window[index] ?? 0] === 1) return this.#from + index;
      at = this.#from + end;
    }
    return to;
  }

  /** Behind the end of the line that this place is in. */
  lineAfter(place: number, to: number): number {
    return Math.min(this.seek(LINE_ENDS, place, to) + 1, to);
  }

  /** @throws Error where it is longer than a text can be */
  text(from: number, to: number): string {
    const length = to - from;
    if (length > constants.MAX_STRING_LENGTH)
      throw new Error(`its ${length.toLocaleString('en-US')} bytes are more than can be read at once`);
    if (length > WINDOW) return this.#read(Buffer.allocUnsafe(length), from).toString();
    if (from < this.#from || to > this.#to) this.#hold(from);
    if (to > this.#to) throw shortened();
    return this.#window.toString('utf8', from - this.#from, to - this.#from);
  }

  /** From this place on. */
  #hold(place: number): void {
    this.#from = place;
    this.#to = place + this.#read(this.#window.subarray(0, this.size - place), place).length;
  }

  #read(into: Buffer, place: number): Buffer {
    for (let filled = 0; filled < into.length; ) {
      const count = readSync(this.#file, into, filled, into.length - filled, place + filled);
      if (count === 0) throw shortened();
      filled += count;
    }
    return into;
  }
}

const shortened = (): Error => new Error('the file has become shorter while it was read');
