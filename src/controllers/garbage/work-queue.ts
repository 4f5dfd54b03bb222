import { Pace } from '../../util/concurrency.ts';
import { type Backoff, pauseAfter } from '../../util/pause.ts';

export interface WorkQueueOptions<Item> {
  /** How many are worked on at a time. */
  readonly atOnce: number;
  /** `again`: others were faster; it is to be tried once more, soon. */
  readonly work: (item: Item, signal: AbortSignal) => Promise<'done' | 'again'>;
  /** Answers how long to wait for another attempt. */
  readonly onError: (error: unknown, item: Item) => Backoff;
}

/** What others do in between lasts for a moment. */
const AGAIN: Backoff = { firstMs: 20, longestMs: 5000 };
/** Items that wait for another attempt wait for one of these moments together, with one timer. */
const TICK_MS = 10;

/**
 * Items to be worked on: each once, however often it is added before its turn, and never twice at a time. One that fails has
 * another attempt after a pause that grows, and keeps nobody from theirs.
 */
export class WorkQueue<Item> {
  readonly #options: WorkQueueOptions<Item>;
  /** In the order in which they came. */
  readonly #waiting = new Set<Item>();
  readonly #active = new Set<Item>();
  /** Added while it was worked on. */
  readonly #again = new Set<Item>();
  readonly #failures = new Map<Item, number>();
  /** Items that wait, by the moment in ticks, with the timer. */
  readonly #later = new Map<number, { readonly items: Item[]; readonly timer: NodeJS.Timeout }>();
  #wake: () => void = () => {};
  /** How many were added, and how many attempts were repeated, so far. */
  readonly counts = { added: 0, retried: 0 };

  constructor(options: WorkQueueOptions<Item>) {
    this.#options = options;
  }

  /** How many wait for their turn. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** How many are worked on, or wait for their turn or for another attempt. */
  get unfinished(): number {
    let later = 0;
    for (const { items } of this.#later.values()) later += items.length;
    return this.#waiting.size + this.#active.size + later;
  }

  /** Never works on it in the same turn. */
  add(item: Item): void {
    if (this.#active.has(item)) {
      this.#again.add(item);
      return;
    }
    if (this.#waiting.has(item)) return;
    this.counts.added += 1;
    this.#waiting.add(item);
    this.#wake();
  }

  /** Works until the signal aborts, and then until what was begun has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = (): void => this.#wake();
    signal.addEventListener('abort', onAbort);
    try {
      await this.#workUntil(signal);
    } finally {
      signal.removeEventListener('abort', onAbort);
      for (const { timer } of this.#later.values()) clearTimeout(timer);
      this.#later.clear();
    }
    while (this.#active.size > 0) await this.#woken();
  }

  async #workUntil(signal: AbortSignal): Promise<void> {
    const pace = new Pace(1);
    for (;;) {
      if (pace.isOver()) await pace.rest();
      // Behind the rest, in which it may have aborted, and before the sleep, from which that would not wake.
      if (signal.aborted) return;
      const next = this.#active.size < this.#options.atOnce ? this.#take() : undefined;
      if (next === undefined) await this.#woken();
      else void this.#workOn(next.item, signal);
    }
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #take(): { readonly item: Item } | undefined {
    for (const item of this.#waiting) {
      this.#waiting.delete(item);
      return { item };
    }
    return undefined;
  }

  /** Never rejects. */
  async #workOn(item: Item, signal: AbortSignal): Promise<void> {
    const { work, onError } = this.#options;
    this.#active.add(item);
    let backoff: Backoff | undefined;
    try {
      if ((await work(item, signal)) === 'again') backoff = AGAIN;
    } catch (error) {
      if (!signal.aborted) backoff = onError(error, item);
    }
    this.#active.delete(item);
    if (backoff === undefined) this.#failures.delete(item);
    if (this.#again.delete(item)) this.add(item);
    else if (backoff !== undefined && !signal.aborted) this.#addLater(item, backoff);
    this.#wake();
  }

  #addLater(item: Item, backoff: Backoff): void {
    const failures = (this.#failures.get(item) ?? 0) + 1;
    this.#failures.set(item, failures);
    this.counts.retried += 1;
    const tick = Math.ceil((performance.now() + pauseAfter(failures, backoff)) / TICK_MS);
    const known = this.#later.get(tick);
    if (known !== undefined) {
      known.items.push(item);
      return;
    }
    const items = [item];
    const timer = setTimeout(() => this.#bringBack(tick), tick * TICK_MS - performance.now());
    this.#later.set(tick, { items, timer });
  }

  #bringBack(tick: number): void {
    const items = this.#later.get(tick)?.items ?? [];
    this.#later.delete(tick);
    for (const item of items) this.add(item);
  }
}
