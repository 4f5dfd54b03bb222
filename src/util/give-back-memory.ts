import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

interface Collection {
  readonly type: 'major';
  readonly execution: 'sync';
  readonly flavor: 'last-resort';
}

/** A heap of less is collected in 50 ms, for which a request may wait. */
const SMALL_BYTES = 64 * 1024 * 1024;
const LATER_MS = 10_000;

/**
 * Returns memory that only the start needed to the operating system. V8 keeps the memory that loading modules took, 27 of the
 * 110 MB of an idle server, until it collects as if memory were short. Such a collection takes 50 ms, and 200 ms with 100,000
 * objects, which belong before the first request. A small heap waits: the start is over sooner, and servers of tests, which may end
 * before, do without. `collect` and `usedBytes` are given by tests.
 */
export function giveBackMemory(collect = collectAll, usedBytes = usedHeap): void {
  const isSmall = (): boolean => usedBytes() <= SMALL_BYTES;
  if (isSmall()) setTimeout(() => isSmall() && collect(), LATER_MS).unref();
  else collect();
}

const usedHeap = (): number => getHeapStatistics().used_heap_size;

function collectAll(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect !== 'function') return;
  const options: Collection = { type: 'major', execution: 'sync', flavor: 'last-resort' };
  collect(options);
}
