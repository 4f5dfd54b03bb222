/** Who has made frames and lets go of them. */
interface FrameOwner {
  dropFrames(): void;
}

/** Half of what is kept at most, in bytes of frames. */
const GENERATION_BYTES = 2 * 1024 * 1024;

/**
 * Keeps frames for those who come for them later: watchers whose clients fell behind replay the same changes within moments
 * of each other. On a busy machine that is most of them, and making their frames one by one was a quarter of all the CPU
 * that 200 watchers of 50 writes a second cost.
 *
 * What was made since the last turn is young, what was made in the turn before it old. A turn is a tick, so that nothing
 * stays in memory when nothing happens, or comes when there is enough.
 */
export class KeptFrames {
  #young: FrameOwner[] = [];
  #old: FrameOwner[] = [];
  #youngBytes = 0;

  add(owner: FrameOwner, sizeBytes: number): void {
    this.#young.push(owner);
    this.#youngBytes += sizeBytes;
    if (this.#youngBytes > GENERATION_BYTES) this.turn();
  }

  turn(): void {
    for (const owner of this.#old) owner.dropFrames();
    this.#old = this.#young;
    this.#young = [];
    this.#youngBytes = 0;
  }
}
