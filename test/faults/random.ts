/** The same sequence for the same seed, so that a run can be repeated (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** In [from, to], whole. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** @throws Error when there is nothing to choose from */
  pick<Value>(values: readonly Value[]): Value {
    const value = values[Math.floor(this.next() * values.length)];
    if (value === undefined) throw new Error('nothing to choose from');
    return value;
  }

  /** A sequence of its own, which does not move when others are used more or less. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }

  shuffled<Value>(values: readonly Value[]): Value[] {
    const left = [...values];
    const result: Value[] = [];
    while (left.length > 0) result.push(...left.splice(Math.floor(this.next() * left.length), 1));
    return result;
  }
}
