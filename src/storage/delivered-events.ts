import type { EventStream, TakeEvent, WatchEvent } from './store.ts';

/** Most events queued for a reader by iteration; the store's history keeps the others. */
const MAX_WAITING = 1000;

type Deliver = (take: TakeEvent, signal: AbortSignal) => Promise<void>;

/** DeliveredEvents makes an event stream of a function that delivers. */
export class DeliveredEvents implements EventStream {
  readonly #deliver: Deliver;
  readonly #signal: AbortSignal;

  constructor(deliver: Deliver, signal: AbortSignal) {
    this.#deliver = deliver;
    this.#signal = signal;
  }

  deliver(take: TakeEvent): Promise<void> {
    return this.#deliver(take, this.#signal);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly WatchEvent[]> {
    const left = new AbortController();
    const events = new WaitingEvents();
    const delivering = this.#deliver(events.take, AbortSignal.any([this.#signal, left.signal])).then(
      () => events.end(),
      (error: unknown) => events.end({ error }),
    );
    try {
      for (let batch = await events.next(); batch !== undefined; batch = await events.next()) yield batch;
    } finally {
      left.abort();
      await delivering;
    }
  }
}

/** WaitingEvents queues events between a store and a reader by iteration. */
class WaitingEvents {
  #events: WatchEvent[] = [];
  #room = Promise.withResolvers<void>();
  #wake: () => void = () => {};
  #over: { readonly error?: unknown } | undefined;

  readonly take: TakeEvent = (event) => {
    this.#events.push(event);
    this.#wake();
    return this.#events.length < MAX_WAITING ? undefined : this.#room.promise;
  };

  end(failure: { readonly error?: unknown } = {}): void {
    this.#over = failure;
    this.#wake();
  }

  /** Returns the queued events; undefined after the last. @throws what the store threw */
  async next(): Promise<readonly WatchEvent[] | undefined> {
    while (this.#events.length === 0) {
      if (this.#over !== undefined) {
        if ('error' in this.#over) throw this.#over.error;
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const batch = this.#events;
    this.#events = [];
    this.#room.resolve();
    this.#room = Promise.withResolvers();
    return batch;
  }
}
