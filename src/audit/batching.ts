import { type Clock, systemClock } from './clock.ts';
import type { AuditRecord } from './event.ts';
import type { AuditSink, LossReport } from './sink.ts';
import { Throttle } from './throttle.ts';

export interface BatchOptions {
  /** Records beyond these are lost. */
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  /** How long a record may wait for others. */
  readonly maxBatchWaitMs: number;
  /** Batches a second. */
  readonly throttle?: { readonly perSecond: number; readonly burst: number };
  /** Batches under way at once. While so many are, records gather in the buffer. */
  readonly concurrency: number;
  readonly clock?: Clock;
  readonly report: LossReport;
}

/** Mode batch: no request waits. Records gather until they are enough, or the first has waited long enough. */
export class BatchingSink implements AuditSink {
  readonly #sink: AuditSink;
  readonly #options: BatchOptions;
  readonly #clock: Clock;
  readonly #throttle: Throttle | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #closing = Promise.withResolvers<void>();
  #buffer: AuditRecord[] = [];
  #callOff: (() => void) | undefined;
  /** The first record has waited long enough. */
  #due = false;
  #closed = false;
  #pumping: Promise<void> | undefined;

  constructor(sink: AuditSink, options: BatchOptions) {
    const { clock = systemClock, throttle } = options;
    this.#sink = sink;
    this.#options = options;
    this.#clock = clock;
    this.#throttle =
      throttle === undefined ? undefined : new Throttle({ ...throttle, now: () => clock.now() });
  }

  process(records: readonly AuditRecord[]): boolean {
    const room = this.#closed ? 0 : this.#options.bufferSize - this.#buffer.length;
    for (const record of records.slice(0, room)) this.#buffer.push(record);
    if (records.length > room) {
      const why = this.#closed ? 'audit backend shut down' : 'audit buffer queue blocked';
      this.#options.report('buffered', new Error(why), records.slice(room));
    }
    this.#continue();
    return true;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.resolve();
    this.#continue();
    // A pump that ends may start another one, for what is left.
    while (this.#pumping !== undefined || this.#underWay.size > 0) {
      await this.#pumping;
      await Promise.all(this.#underWay);
    }
    await this.#sink.close();
  }

  #continue(): void {
    if (this.#pumping !== undefined || this.#buffer.length === 0) return;
    if (this.#isReady()) {
      this.#pumping = this.#pump().finally(() => {
        this.#pumping = undefined;
        this.#continue();
      });
      return;
    }
    this.#callOff ??= this.#clock.after(this.#options.maxBatchWaitMs, () => {
      this.#callOff = undefined;
      this.#due = true;
      this.#continue();
    });
  }

  #isReady(): boolean {
    const { length } = this.#buffer;
    return length >= this.#options.maxBatchSize || (length > 0 && (this.#due || this.#closed));
  }

  async #pump(): Promise<void> {
    while (this.#isReady()) {
      await this.#turn();
      const batch = this.#buffer.splice(0, this.#options.maxBatchSize);
      if (this.#buffer.length === 0) this.#due = false;
      this.#callOff?.();
      this.#callOff = undefined;
      this.#send(batch);
    }
  }

  /** Resolves when the next batch may go. When the server ends, nothing is throttled any more. */
  async #turn(): Promise<void> {
    while (this.#underWay.size >= this.#options.concurrency) await Promise.race(this.#underWay);
    const waitMs = this.#closed ? 0 : (this.#throttle?.take() ?? 0);
    if (waitMs === 0) return;
    const waited = Promise.withResolvers<void>();
    const callOff = this.#clock.after(waitMs, waited.resolve);
    await Promise.race([waited.promise, this.#closing.promise]);
    callOff();
  }

  #send(batch: readonly AuditRecord[]): void {
    const sending = Promise.resolve(this.#sink.process(batch)).finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }
}
