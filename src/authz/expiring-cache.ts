/**
 * A cache of the last used values, each until it expires. A Map keeps the order of insertion, so a value that is used moves to
 * the end, and the first one is the next to be dropped.
 */
export class ExpiringCache<T> {
  readonly #values = new Map<string, { readonly value: T; readonly untilMs: number }>();
  readonly #capacity: number;
  readonly #now: () => number;

  constructor(options: { capacity: number; now: () => number }) {
    this.#capacity = options.capacity;
    this.#now = options.now;
  }

  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    this.#values.delete(key);
    if (found.untilMs <= this.#now()) return undefined;
    this.#values.set(key, found);
    return found.value;
  }

  set(key: string, value: T, ttlMs: number): void {
    this.#values.delete(key);
    if (ttlMs <= 0) return;
    this.#values.set(key, { value, untilMs: this.#now() + ttlMs });
    if (this.#values.size <= this.#capacity) return;
    const oldest = this.#values.keys().next();
    if (oldest.done !== true) this.#values.delete(oldest.value);
  }
}
