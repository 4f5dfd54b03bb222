import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into a server before its own code (`node --import`), answers over the IPC channel what the server's main thread did
 * since it was last asked: the longest time that it spent without turning its event loop, and the most memory that garbage
 * collections left it with.
 *
 * The time is the thread's own CPU time, so that a machine with other work to do does not make it longer: what blocks, works.
 */
export interface ProbeReading {
  readonly longestMs: number;
  readonly grownBytes: number;
}

export type ProbeCommand = 'begin' | 'end';

const TICK_MS = 2;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

class Probe {
  #longestMs = 0;
  #lastMs = threadMs();
  #baseBytes = 0;
  #baseHeapBytes = 0;
  #peakBytes = 0;
  #profiler: GCProfiler | undefined;

  begin(): void {
    this.#profiler?.stop();
    collect();
    this.#baseBytes = usedBytes();
    this.#baseHeapBytes = getHeapStatistics().used_heap_size;
    this.#peakBytes = this.#baseBytes;
    this.#profiler = new GCProfiler();
    this.#profiler.start();
    this.#longestMs = 0;
    this.#lastMs = threadMs();
  }

  tick(): void {
    const now = threadMs();
    this.#longestMs = Math.max(this.#longestMs, now - this.#lastMs);
    this.#lastMs = now;
    this.#peakBytes = Math.max(this.#peakBytes, this.#baseHeapBytes + getHeapStatistics().external_memory);
  }

  end(): ProbeReading {
    this.tick();
    for (const { gcType, afterGC } of this.#profiler?.stop()?.statistics ?? []) {
      if (gcType !== 'MarkSweepCompact') continue;
      const { usedHeapSize, externalMemory } = afterGC.heapStatistics;
      this.#peakBytes = Math.max(this.#peakBytes, usedHeapSize + externalMemory);
    }
    this.#profiler = undefined;
    return { longestMs: this.#longestMs, grownBytes: this.#peakBytes - this.#baseBytes };
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

const probe = new Probe();
setInterval(() => probe.tick(), TICK_MS).unref();
process.on('message', (command: ProbeCommand) => {
  if (command === 'end') {
    process.send?.(probe.end());
    return;
  }
  probe.begin();
  process.send?.('begun');
});
// The channel must not keep the server from ending.
process.channel?.unref();
