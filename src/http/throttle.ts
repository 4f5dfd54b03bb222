import type { ResponseSink } from '../request/api-response.ts';
import { pause } from '../util/pause.ts';

/**
 * --max-connection-bytes-per-sec: a bucket for each connection. A stream that has sent more than its share reports that it is
 * full until the bucket is out of debt, so that further frames wait at their source and not here.
 */
export class Throttle {
  readonly #bytesPerSecond: number;
  readonly #buckets = new WeakMap<object, Bucket>();

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Without a limit, returns the sink itself. */
  limit(connection: object, sink: ResponseSink, signal: AbortSignal): ResponseSink {
    if (this.#bytesPerSecond === 0) return sink;
    let bucket = this.#buckets.get(connection);
    if (bucket === undefined) {
      bucket = new Bucket(this.#bytesPerSecond);
      this.#buckets.set(connection, bucket);
    }
    const own = bucket;
    return {
      open: () => sink.open(),
      write: (frame) => {
        const more = sink.write(frame);
        return own.take(frame.length) && more;
      },
      drained: async () => {
        await sink.drained();
        while (!signal.aborted && own.debtMs() > 0) await pause(own.debtMs(), signal);
      },
    };
  }
}

/** Holds at most what one second gives. */
export class Bucket {
  readonly #perSecond: number;
  readonly #now: () => number;
  #level: number;
  #atMs: number;

  constructor(perSecond: number, now: () => number = () => performance.now()) {
    this.#perSecond = perSecond;
    this.#now = now;
    this.#level = perSecond;
    this.#atMs = now();
  }

  /** False when the bucket is in debt afterwards. */
  take(amount: number): boolean {
    this.#fill();
    this.#level -= amount;
    return this.#level >= 0;
  }

  /** How long until the debt is paid. */
  debtMs(): number {
    this.#fill();
    return this.#level >= 0 ? 0 : Math.ceil((-this.#level / this.#perSecond) * 1000);
  }

  #fill(): void {
    const now = this.#now();
    this.#level = Math.min(this.#perSecond, this.#level + ((now - this.#atMs) / 1000) * this.#perSecond);
    this.#atMs = now;
  }
}
