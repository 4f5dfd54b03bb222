import type { SourceChange } from './source.ts';

/** Watches wait while the reader is so far behind. */
const MOST = 5000;

/** ChangeQueue hands the changes of many watches to one reader, those of one watch in their order. */
export class ChangeQueue {
  #changes: SourceChange[] = [];
  #isEnded = false;
  /** Wakes the reader, or the watches that wait for room. */
  #wakeReader: () => void = () => {};
  #room = Promise.withResolvers<void>();

  /** Resolves when there is room for the next. */
  async put(change: SourceChange): Promise<void> {
    this.#changes.push(change);
    this.#wakeReader();
    while (this.#changes.length >= MOST && !this.#isEnded) await this.#room.promise;
  }

  /** No watch puts any more. */
  end(): void {
    this.#isEnded = true;
    this.#wakeReader();
    this.#room.resolve();
  }

  /** Ends with the last change before {@link end}. */
  async *changes(): AsyncGenerator<SourceChange> {
    for (;;) {
      const taken = this.#changes;
      this.#changes = [];
      this.#room.resolve();
      this.#room = Promise.withResolvers<void>();
      yield* taken;
      if (this.#changes.length > 0) continue;
      if (this.#isEnded) return;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }
}
