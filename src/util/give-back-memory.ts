import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** `last-resort` takes twice as long as `regular`, and lets go of optimized code too. */
type Flavor = 'regular' | 'last-resort';

interface Collection {
  readonly type: 'major';
  readonly execution: 'sync';
  readonly flavor: Flavor;
}

/** A heap of less is collected in 50 ms, for which a request may wait. */
const SMALL_BYTES = 64 * 1024 * 1024;
const LATER_MS = 10_000;
/** A server that answers requests is above it: the collection would throw away the code that V8 has optimized for them. */
const IDLE_UTILIZATION = 0.1;

interface Process {
  collect(flavor: Flavor): void;
  usedBytes(): number;
  /** The part of the time since the call before in which the event loop was not idle. */
  utilization(): number;
}

/**
 * Returns memory that only the start needed to the operating system. V8 keeps the memory that loading modules took, 27 of the
 * 110 MB of an idle server, until it collects as if memory were short. Such a collection takes 50 ms, and 200 ms with 100,000
 * objects, which belong before the first request. A small heap waits for ten seconds in which the server is idle: the start is
 * over sooner, and servers of tests, which may end before, do without. `of` is given by tests.
 */
export function giveBackMemory(of: Process = ownProcess()): void {
  const isSmall = (): boolean => of.usedBytes() <= SMALL_BYTES;
  if (isSmall()) whenIdle(of, () => isSmall() && of.collect('last-resort'));
  else of.collect('last-resort');
}

/**
 * Collects at the end of ten seconds in which this thread is idle: V8 collects by itself only while it allocates. Calls before that do
 * nothing. With 100,000 objects it takes 70 to 100 ms.
 */
export class IdleCollection {
  readonly #of: Process;
  #isDue = false;

  constructor(of: Process = ownProcess()) {
    this.#of = of;
  }

  begin(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    whenIdle(this.#of, () => {
      this.#isDue = false;
      this.#of.collect('regular');
    });
  }
}

function whenIdle(of: Process, work: () => void): void {
  of.utilization();
  setTimeout(() => {
    if (of.utilization() <= IDLE_UTILIZATION) work();
    else whenIdle(of, work);
  }, LATER_MS).unref();
}

function ownProcess(): Process {
  let before = performance.eventLoopUtilization();
  return {
    collect: collectAll,
    usedBytes: () => getHeapStatistics().used_heap_size,
    utilization: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
  };
}

function collectAll(flavor: Flavor): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') return;
  const options: Collection = { type: 'major', execution: 'sync', flavor };
  collect(options);
}
