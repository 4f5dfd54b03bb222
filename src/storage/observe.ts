import type { GroupResource } from '../api/names.ts';
import type { Entry, FrameEncoder, FrameSink, Store, WatchEvent } from './store.ts';

const NO_BYTES = Buffer.alloc(0);

/** Distinguishes observers to the store, which encodes an event once for all watchers with the same encoder id. */
let observers = 0;

/**
 * A watch for consumers inside the process: the current state as ADDED events, then every change, until the signal aborts.
 * It is an ordinary watch whose frames are empty, so it has the same order and the same bounds as those of clients; the
 * events come on the side. What does not match is as if it were not there.
 * @throws StorageError compacted when the consumer fell behind the history; begin again
 */
export async function* observe(
  store: Store,
  resource: GroupResource,
  signal: AbortSignal,
  matches?: (entry: Entry) => boolean,
): AsyncGenerator<WatchEvent> {
  observers += 1;
  const queue = new EventQueue(`observer-${observers}`);
  const watch = store.watch(
    {
      resource,
      scope: {},
      start: { kind: 'state', freshness: { kind: 'latest' } },
      encoder: queue,
      sink: queue,
      bookmarks: false,
      initialEventsEnd: false,
      deadline: Number.POSITIVE_INFINITY,
      onStart: () => {},
      ...(matches === undefined ? {} : { matches }),
    },
    signal,
  );
  const ended = watch.then(
    () => queue.end(undefined),
    (error: unknown) => queue.end(error),
  );
  try {
    yield* queue.events();
  } finally {
    queue.end(undefined);
  }
  await ended;
}

/** Events beyond this many wait in the store's history rather than here. */
const MAX_QUEUED = 1000;

class EventQueue implements FrameEncoder, FrameSink {
  readonly id: string;
  #events: WatchEvent[] = [];
  #wake: (() => void) | undefined;
  #drained: (() => void)[] = [];
  #ended = false;
  #error: unknown;

  constructor(id: string) {
    this.id = id;
  }

  encode(event: WatchEvent): Buffer {
    this.#events.push(event);
    return NO_BYTES;
  }

  bookmark(): Buffer {
    return NO_BYTES;
  }

  write(): boolean {
    this.#wake?.();
    return this.#events.length < MAX_QUEUED;
  }

  drained(): Promise<void> {
    if (this.#events.length < MAX_QUEUED) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  end(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  async *events(): AsyncGenerator<WatchEvent> {
    for (;;) {
      const events = this.#events;
      this.#events = [];
      for (const resolve of this.#drained.splice(0)) resolve();
      yield* events;
      if (this.#events.length > 0) continue;
      if (this.#ended) {
        if (this.#error !== undefined) throw this.#error;
        return;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
