import type { Revision } from '../revision.ts';
import type { SharedEvent } from './event.ts';

/** Bounds of what one resource remembers; older changes are read from SQL. */
const MAX_EVENTS = 4096;
const MAX_BYTES = 16 * 1024 * 1024;

/** The recent changes of one resource, oldest first. Holds every change after `floor`. */
export class RecentEvents {
  #events: SharedEvent[] = [];
  /** Events before this index are forgotten; the array is cut when half of it is. */
  #start = 0;
  #sizeBytes = 0;
  #floor: Revision;

  constructor(floor: Revision) {
    this.#floor = floor;
  }

  /** A watch that has seen everything up to this revision can go on from memory. */
  get floor(): Revision {
    return this.#floor;
  }

  push(event: SharedEvent): void {
    this.#events.push(event);
    this.#sizeBytes += event.sizeBytes;
    while (this.#events.length - this.#start > MAX_EVENTS || this.#sizeBytes > MAX_BYTES)
      this.#forgetOldest();
  }

  /** Index of the first event after a revision, for {@link at}. The revision must not be below the floor. */
  indexAfter(revision: Revision): number {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const event = this.#events[middle];
      if (event !== undefined && event.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Valid only until the next push: pushing may cut the array. */
  at(index: number): SharedEvent | undefined {
    return this.#events[index];
  }

  #forgetOldest(): void {
    const oldest = this.#events[this.#start];
    if (oldest === undefined) return;
    this.#start += 1;
    this.#sizeBytes -= oldest.sizeBytes;
    this.#floor = oldest.revision;
    if (this.#start * 2 <= this.#events.length) return;
    this.#events = this.#events.slice(this.#start);
    this.#start = 0;
  }
}
