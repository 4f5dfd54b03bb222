import type { EventStream, TakeEvent, WatchEvent } from './store.ts';

/** A reader by iteration that has more than this many events before it waits, and the others stay in the store's history. */
const MAX_WAITING = 1000;

type Deliver = (take: TakeEvent, signal: AbortSignal) => Promise<void>;

/** An event stream, made of the function that delivers. */
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

/** Events between a store that delivers them and a reader that asks for them. */
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

  /** What has come; undefined when nothing will come any more. @throws what the store threw */
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
