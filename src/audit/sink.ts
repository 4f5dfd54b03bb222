import type { AuditRecord } from './audit-event.ts';
import { isAtLeast } from './audit-policy.ts';

/** Whether everything was stored. No promise where nothing is awaited. */
export type Stored = boolean | Promise<boolean>;

/** Stores records. The sink that fails to store a record reports and counts the loss. */
export interface AuditSink {
  /** Never throws and never rejects. */
  process(records: readonly AuditRecord[]): Stored;
  /** Stores the remaining records, and ends. */
  close(): Promise<void>;
}

/** Reports lost records. `part` names the part of the back end that lost them, also in metrics. */
export type LossReport = (part: string, error: unknown, records: readonly AuditRecord[]) => void;

/** Passes every record to all sinks at the same time. */
export function unite(sinks: readonly AuditSink[]): AuditSink {
  return {
    process: (records) => all(sinks.map((sink) => sink.process(records))),
    close: async () => {
      await Promise.all(sinks.map((sink) => sink.close()));
    },
  };
}

/** Waits for the sink, but its failures fail no request. */
export function ignoreFailures(sink: AuditSink): AuditSink {
  return {
    process: async (records) => {
      await sink.process(records);
      return true;
    },
    close: () => sink.close(),
  };
}

function all(results: readonly Stored[]): Stored {
  if (results.every((result) => typeof result === 'boolean')) return !results.includes(false);
  return Promise.all(results).then((known) => !known.includes(false));
}

interface TruncationOptions {
  readonly maxEventBytes: number;
  readonly maxBatchBytes: number;
  /** The version in which events are written and measured. */
  readonly apiVersion: string;
}

/** Removes the bodies of events that are too large, and drops events that still are. Placed before a buffer, to keep it small. */
export function truncateEvents(sink: AuditSink, options: TruncationOptions, report: LossReport): AuditSink {
  return {
    process: (records) => {
      const kept = records.map((record) => truncate(record, options));
      const lost = records.filter((_, at) => kept[at] === undefined);
      if (lost.length > 0) {
        report('truncate', new Error('event is too large even after truncating'), lost);
      }
      const rest = kept.filter((record) => record !== undefined);
      return rest.length === 0 ? true : sink.process(rest);
    },
    close: () => sink.close(),
  };
}

function truncate(
  record: AuditRecord,
  { maxEventBytes, apiVersion }: TruncationOptions,
): AuditRecord | undefined {
  if (sizeOf(record, apiVersion) <= maxEventBytes) return record;
  if (!isAtLeast(record.event.level, 'Request')) return undefined;
  const small = record.withoutBodies();
  return sizeOf(small, apiVersion) <= maxEventBytes ? small : undefined;
}

/** Splits batches that are too large. Placed behind the buffer that makes the batches. */
export function splitBatches(sink: AuditSink, options: TruncationOptions): AuditSink {
  return {
    process: async (records) => {
      const results: boolean[] = [];
      for (const batch of split(records, options)) results.push(await sink.process(batch));
      return !results.includes(false);
    },
    close: () => sink.close(),
  };
}

function split(
  records: readonly AuditRecord[],
  { maxBatchBytes, apiVersion }: TruncationOptions,
): AuditRecord[][] {
  const batches: AuditRecord[][] = [];
  let bytes = 0;
  for (const record of records) {
    const size = sizeOf(record, apiVersion);
    const last = batches.at(-1);
    if (last === undefined || bytes + size > maxBatchBytes) {
      batches.push([record]);
      bytes = size;
    } else {
      last.push(record);
      bytes += size;
    }
  }
  return batches;
}

const sizeOf = (record: AuditRecord, apiVersion: string): number =>
  Buffer.byteLength(record.toJson(apiVersion));

interface BatchOptions {
  /** Records beyond these are lost. */
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  /** How long a record may wait for others. */
  readonly maxBatchWaitMs: number;
  /** Batches a second. */
  readonly throttle?: { readonly perSecond: number; readonly burst: number };
  /** Batches under way at once. While as many are under way, records wait in the buffer. */
  readonly concurrency: number;
  readonly clock?: Clock;
  readonly report: LossReport;
}

export interface BufferState {
  readonly waiting: number;
  readonly free: number;
}

/** Mode batch: no request waits. A batch is sent when it is full, or when its first record has waited long enough. */
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

  /** Records that wait for a batch, and how many more may. */
  get state(): BufferState {
    const waiting = this.#buffer.length;
    return { waiting, free: this.#options.bufferSize - waiting };
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

  /** Resolves when the next batch may be sent. The last batches of a server are not throttled. */
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

/**
 * A token bucket: `perSecond` tokens come in, `burst` fit in. A token can be taken before it is there: the taker owns it, and must
 * wait for the returned time.
 */
export class Throttle {
  readonly #perMs: number;
  readonly #burst: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  constructor({ perSecond, burst, now }: { perSecond: number; burst: number; now: () => number }) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#now = now;
    this.#tokens = burst;
    this.#at = now();
  }

  /** Milliseconds until the token may be used. */
  take(): number {
    const now = this.#now();
    this.#tokens = Math.min(this.#tokens + (now - this.#at) * this.#perMs, this.#burst) - 1;
    this.#at = now;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }
}

/** The clock; tests replace it so that they need not wait. */
interface Clock {
  /** Milliseconds since any moment. */
  now(): number;
  /** Calls `call` once, after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, call: () => void): () => void;
}

const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};
