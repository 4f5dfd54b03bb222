/** What has encodings and can drop them. */
interface Encoded {
  dropEncodings(): void;
}

/** Half of what is kept at most, in bytes. */
const GENERATION_BYTES = 2 * 1024 * 1024;

/**
 * Keeps the encodings of recent events for watchers that ask later: those whose clients fell behind replay the same changes
 * within moments of each other. On a busy machine that is most of them, and encoding the events for each of them was a quarter of
 * all the CPU that 200 watchers of 50 writes a second cost.
 *
 * What was encoded since the last turn is young, what was encoded in the turn before it old. A turn comes with each tick, so that
 * memory empties while nothing happens, and earlier when there is enough.
 */
export class RecentEncodings {
  #young: Encoded[] = [];
  #old: Encoded[] = [];
  #youngBytes = 0;

  add(event: Encoded, sizeBytes: number): void {
    this.#young.push(event);
    this.#youngBytes += sizeBytes;
    if (this.#youngBytes > GENERATION_BYTES) this.turn();
  }

  turn(): void {
    for (const event of this.#old) event.dropEncodings();
    this.#old = this.#young;
    this.#young = [];
    this.#youngBytes = 0;
  }
}
