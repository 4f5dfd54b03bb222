/** An event that can drop its encodings. */
interface Encoded {
  dropEncodings(): void;
}

/** Half of the most bytes that are kept. */
const GENERATION_BYTES = 2 * 1024 * 1024;

/**
 * RecentEncodings keeps the encodings of recent events for watchers that ask later: those whose clients fell behind replay the same
 * changes within moments of each other. On a busy machine they are most, and encoding for each of them was a quarter of the CPU
 * time of 200 watchers of 50 writes a second.
 *
 * Encodings made since the last turn are young, those of the turn before are old. Each tick is a turn, so that memory empties when
 * idle; a turn also comes when there are enough young bytes.
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
