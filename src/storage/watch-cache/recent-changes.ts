import type { Revision } from '../revision.ts';
import type { AppliedChange } from './applied-change.ts';

/** Bounds of what one resource remembers; older changes are read from SQL. */
const MAX_CHANGES = 4096;
const MAX_BYTES = 16 * 1024 * 1024;

/** RecentChanges holds every change of one resource after `floor`, oldest first. */
export class RecentChanges {
  #changes: AppliedChange[] = [];
  /** Index of the oldest kept change; the array is cut when half is forgotten. */
  #start = 0;
  #sizeBytes = 0;
  #floor: Revision;

  constructor(floor: Revision) {
    this.#floor = floor;
  }

  /** A watch that has seen this revision can go on from memory. */
  get floor(): Revision {
    return this.#floor;
  }

  push(change: AppliedChange): void {
    this.#changes.push(change);
    this.#sizeBytes += change.sizeBytes;
    while (this.#changes.length - this.#start > MAX_CHANGES || this.#sizeBytes > MAX_BYTES)
      this.#forgetOldest();
  }

  /** Returns the index of the first change after a revision, for {@link at}; it must not be below the floor. */
  indexAfter(revision: Revision): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const change = this.#changes[middle];
      if (change !== undefined && change.revision > revision) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Valid only until the next push: pushing may cut the array. */
  at(index: number): AppliedChange | undefined {
    return this.#changes[index];
  }

  #forgetOldest(): void {
    const oldest = this.#changes[this.#start];
    if (oldest === undefined) return;
    this.#start += 1;
    this.#sizeBytes -= oldest.sizeBytes;
    this.#floor = oldest.revision;
    if (this.#start * 2 <= this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }
}
