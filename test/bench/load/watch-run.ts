import { summarize } from '../measure/percentile.ts';
import type { DelayMeter } from './delays.ts';
import { EventCounter } from './event-counter.ts';
import type { WatchJob, WatchResult } from './jobs.ts';
import { type CloseWatches, openWatches } from './watchers.ts';

const POLL_MS = 5;

/** Open watches and what has come over them. */
export class WatchRun {
  readonly #job: WatchJob;
  readonly #delays: DelayMeter;
  readonly #counters: EventCounter[];
  #close: CloseWatches = () => {};
  #closing = false;
  #cpu = process.cpuUsage();
  #since = performance.now();
  #events = 0;
  #bytes = 0;
  #dropped = 0;
  #firstAt = 0;
  #lastAt = 0;

  constructor(job: WatchJob, delays: DelayMeter) {
    this.#job = job;
    this.#delays = delays;
    this.#counters = Array.from({ length: job.watchers }, () => new EventCounter());
  }

  async open(): Promise<void> {
    this.#begin();
    this.#close = await openWatches(this.#job, {
      data: (watcher, chunk) => this.#receive(watcher, chunk),
      ended: () => {
        if (!this.#closing) this.#dropped += 1;
      },
    });
    if (this.#job.countsFromStart !== true) this.#begin();
  }

  async await(events: number, timeoutMs: number): Promise<WatchResult> {
    const deadline = performance.now() + timeoutMs;
    while (this.#events < events && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    const seconds = (performance.now() - this.#since) / 1000;
    const { user, system } = process.cpuUsage(this.#cpu);
    const result = {
      seconds,
      cores: (user + system) / 1e6 / seconds,
      events: this.#events,
      bytes: this.#bytes,
      dropped: this.#dropped,
      spanSeconds: (this.#lastAt - this.#firstAt) / 1000,
      delayMs: summarize(this.#delays.take()),
    };
    this.#begin();
    return result;
  }

  close(): void {
    this.#closing = true;
    this.#close();
  }

  #begin(): void {
    this.#cpu = process.cpuUsage();
    this.#since = performance.now();
    this.#events = 0;
    this.#bytes = 0;
    this.#firstAt = 0;
    this.#lastAt = 0;
  }

  #receive(watcher: number, chunk: Buffer): void {
    const events = this.#counters[watcher]?.count(chunk) ?? 0;
    this.#bytes += chunk.length;
    if (events === 0) return;
    const now = performance.now();
    if (this.#events === 0) this.#firstAt = now;
    this.#lastAt = now;
    this.#events += events;
    if (this.#job.delays) this.#noteVersions(chunk, now);
  }

  /** Only the object's own metadata has a resourceVersion in the objects that are watched here. */
  #noteVersions(chunk: Buffer, now: number): void {
    for (const [, version = ''] of chunk.toString('latin1').matchAll(/"resourceVersion":"(\d+)"/g)) {
      this.#delays.seen(version, now);
    }
  }
}
