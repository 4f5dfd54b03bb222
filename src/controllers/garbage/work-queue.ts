import { type Backoff, pauseAfter } from '../../util/pause.ts';
import { Pace } from '../../util/turns.ts';

interface WorkQueueOptions<Item> {
  /** Most items in work at a time. */
  readonly atOnce: number;
  /** `again`: another writer was faster; retry soon. */
  readonly work: (item: Item, signal: AbortSignal) => Promise<'done' | 'again'>;
  /** Returns the pause before another attempt. */
  readonly onError: (error: unknown, item: Item) => Backoff;
}

/** Conflicts with other writers last for a moment. */
const AGAIN: Backoff = { firstMs: 20, longestMs: 5000 };
/** Pauses end at multiples of this time, so that items share timers. */
const TICK_MS = 10;

/**
 * Works on items: on each once, however often it is added before its turn, and never twice at a time. A failed item is retried
 * after a growing pause, and delays no other.
 */
export class WorkQueue<Item> {
  readonly #options: WorkQueueOptions<Item>;
  /** In order of arrival. */
  readonly #waiting = new Set<Item>();
  readonly #active = new Set<Item>();
  /** Added while active. */
  readonly #again = new Set<Item>();
  readonly #failures = new Map<Item, number>();
  /** Paused items by the tick at which they resume, with the timer. */
  readonly #later = new Map<number, { readonly items: Item[]; readonly timer: NodeJS.Timeout }>();
  #wake: () => void = () => {};
  /** Items added, and attempts repeated, so far. */
  readonly counts = { added: 0, retried: 0 };

  constructor(options: WorkQueueOptions<Item>) {
    this.#options = options;
  }

  /** Items that wait for their turn. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Items that are active, wait for their turn or are paused. */
  get unfinished(): number {
    let later = 0;
    for (const { items } of this.#later.values()) later += items.length;
    return this.#waiting.size + this.#active.size + later;
  }

  /** Never starts the item in the same turn. */
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

  /** Works until the signal aborts, then waits for active items. */
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
    const pace = new Pace({ stepsBetween: 1 });
    for (;;) {
      if (pace.isOver()) await pace.rest();
      // After work that may have aborted the signal, and before a sleep that would miss it.
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
    const timer = setTimeout(() => this.#bringBack(tick), Math.max(0, tick * TICK_MS - performance.now()));
    this.#later.set(tick, { items, timer });
  }

  #bringBack(tick: number): void {
    const items = this.#later.get(tick)?.items ?? [];
    this.#later.delete(tick);
    for (const item of items) this.add(item);
  }
}
