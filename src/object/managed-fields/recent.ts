const MAX_ITEMS = 32;
const MAX_BYTES = 8 * 1024 * 1024;

/** How much is remembered in all places together. */
export class Memory {
  #bytes = 0;

  get isFull(): boolean {
    return this.#bytes > MAX_BYTES;
  }

  take(bytes: number): void {
    this.#bytes += bytes;
  }

  clear(): void {
    this.#bytes = 0;
  }
}

/**
 * A few things that were needed lately, the most wanted first. When there are too many the last one goes, so that those
 * that come once do not drive out those that come again.
 */
export class Recent<T> {
  readonly #memory: Memory;
  readonly items: T[] = [];

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** The item moves one place to the front. */
  use(at: number): void {
    const { items } = this;
    const [item, previous] = [items[at], items[at - 1]];
    if (item === undefined || previous === undefined) return;
    items[at - 1] = item;
    items[at] = previous;
  }

  add(item: T, bytes: number): void {
    this.#memory.take(bytes);
    if (this.items.length < MAX_ITEMS) this.items.push(item);
    else this.items[MAX_ITEMS - 1] = item;
  }
}
