import { monitorEventLoopDelay } from 'node:perf_hooks';

/**
 * --contention-profiling. What threads waiting for a lock are elsewhere is here the event loop: how long work that was ready
 * waited for its turn.
 */
export class Contention {
  readonly #delays: ReturnType<typeof monitorEventLoopDelay> | undefined;

  constructor(enabled: boolean) {
    this.#delays = enabled ? monitorEventLoopDelay({ resolution: 10 }) : undefined;
    this.#delays?.enable();
  }

  close(): void {
    this.#delays?.disable();
  }

  report(): string {
    if (this.#delays === undefined) return 'not recorded: start the server with --contention-profiling\n';
    const delays = this.#delays;
    const ms = (ns: number): string => `${(ns / 1e6).toFixed(3)}ms`;
    const lines = [50, 75, 90, 99, 99.9, 100].map((at) => `p${at}\t${ms(delays.percentile(at))}`);
    const { eventLoopUtilization } = performance;
    const busy = (eventLoopUtilization().utilization * 100).toFixed(1);
    return `event loop delay, ${delays.count} samples\nmean\t${ms(delays.mean)}\n${lines.join('\n')}\nbusy\t${busy}%\n`;
  }
}
