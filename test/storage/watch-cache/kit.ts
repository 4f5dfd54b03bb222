import type { FrameEncoder, FrameSink, WatchQuery } from '../../../src/storage/store.ts';

export const CONFIG_MAPS = { group: '', resource: 'configmaps' };

export const encoder: FrameEncoder = {
  id: 'test',
  encode: ({ type, entry, revision }) => Buffer.from(`${type} ${entry.name} ${revision}\n`),
  bookmark: (revision, end) => Buffer.from(`BOOKMARK ${revision} ${end}\n`),
};

/** Collects frames; can be made to look full. */
export class Sink implements FrameSink {
  readonly frames: string[] = [];
  full = false;
  #drained: (() => void)[] = [];
  #waiting: { count: number; resolve: () => void }[] = [];

  write(frame: Buffer): boolean {
    this.frames.push(frame.toString().trim());
    for (const waiter of this.#waiting) if (this.frames.length >= waiter.count) waiter.resolve();
    return !this.full;
  }

  drained(): Promise<void> {
    return this.full ? new Promise((resolve) => this.#drained.push(resolve)) : Promise.resolve();
  }

  drain(): void {
    this.full = false;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  reached(count: number): Promise<void> {
    if (this.frames.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }
}

export function watchQuery(
  sink: Sink,
  start: WatchQuery['start'],
  more: Partial<WatchQuery> = {},
): WatchQuery {
  return {
    resource: CONFIG_MAPS,
    scope: {},
    start,
    encoder,
    sink,
    bookmarks: false,
    initialEventsEnd: false,
    deadline: Number.POSITIVE_INFINITY,
    onStart: () => {},
    ...more,
  };
}

export const revisionsOf = (sink: Sink): bigint[] =>
  sink.frames.map((frame) => BigInt(frame.split(' ')[2] ?? 0));
