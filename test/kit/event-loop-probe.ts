import { setImmediate } from 'node:timers/promises';
import { GCProfiler, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { slowness } from './slowness.ts';
import { threadMs } from './thread-time.ts';

/**
 * Loaded into a server before its own code (`node --import`), answers over the IPC channel what the server's main thread did
 * since it was last asked: the longest time that it spent without turning its event loop, and the most memory that garbage
 * collections left it with.
 *
 * The time is the thread's own CPU time, so that a machine with other work to do does not make it longer: what blocks, works.
 */
export interface ProbeReading {
  readonly longestMs: number;
  /** How slow the machine was: see {@link slowness}. Measured only after long work. */
  readonly slowness: number;
  readonly grownBytes: number;
  /** Whether what was there before could not hide any growth. */
  readonly isSure: boolean;
}

/**
 * `begin-quickly`: without a full collection first, where that can do without; a reading that would have needed one is not sure.
 * `spend`: the probe itself does what it is to notice.
 */
export type ProbeCommand = 'begin' | 'begin-quickly' | 'end' | 'spend';

/** Memory outside of the heap that waits for a collection hides as much of what is taken anew. */
const HIDING_BYTES = 1024 * 1024;

/** What the request before still held is let go within a few turns of the loop. */
const MAX_COLLECTIONS = 5;

const TICK_MS = 2;
const LONG_MS = 50;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

class Probe {
  #longestMs = 0;
  #lastMs = threadMs();
  #baseBytes = 0;
  #baseHeapBytes = 0;
  #peakBytes = 0;
  #profiler: GCProfiler | undefined;
  #isCollected = false;
  #leastExternalBytes = Number.NEGATIVE_INFINITY;

  async begin(isQuick: boolean): Promise<void> {
    this.#profiler?.stop();
    const waiting = getHeapStatistics().external_memory - this.#leastExternalBytes;
    this.#isCollected = !isQuick || waiting > HIDING_BYTES;
    if (this.#isCollected) {
      await collectAll();
      this.#leastExternalBytes = getHeapStatistics().external_memory;
    }
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
    const collections = (this.#profiler?.stop()?.statistics ?? []).filter(
      ({ gcType }) => gcType === 'MarkSweepCompact',
    );
    for (const { afterGC } of collections) {
      const { usedHeapSize, externalMemory } = afterGC.heapStatistics;
      this.#peakBytes = Math.max(this.#peakBytes, usedHeapSize + externalMemory);
    }
    // Without a collection meanwhile, only memory outside of the heap is judged.
    const isSure = this.#isCollected || collections.length === 0;
    this.#profiler = undefined;
    const longestMs = this.#longestMs;
    const slow = longestMs > LONG_MS ? slowness() : 1;
    return { longestMs, slowness: slow, grownBytes: this.#peakBytes - this.#baseBytes, isSure };
  }
}

const SPENT_MS = 150;
const SPENT_BYTES = 100 * 1024 * 1024;

/** Works without a pause, and needs memory when the heap is looked at. */
function spend(): void {
  const held: string[][] = [];
  for (let bytes = 0; bytes < SPENT_BYTES; bytes += 8 * 1024 * 1024) held.push(Array(1024 * 1024).fill('x'));
  collect();
  const until = threadMs() + SPENT_MS;
  while (threadMs() < until) held.reverse();
}

/** Collects until nothing is left that would hide growth. */
async function collectAll(): Promise<void> {
  let bytes = usedBytes();
  for (let collections = 1; collections <= MAX_COLLECTIONS; collections += 1) {
    collect();
    const isDone = collections > 1 && bytes - usedBytes() < HIDING_BYTES;
    bytes = usedBytes();
    if (isDone) return;
    await setImmediate();
  }
}

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

const probe = new Probe();
setInterval(() => probe.tick(), TICK_MS).unref();
process.on('message', async (command: ProbeCommand) => {
  if (command === 'end') {
    process.send?.(probe.end());
    return;
  }
  if (command === 'spend') spend();
  else await probe.begin(command === 'begin-quickly');
  process.send?.('done');
});
// The channel must not keep the server from ending.
process.channel?.unref();
