import type { Encoding, Store, TakeEvent, WatchEvent, WatchQuery } from '../../../src/storage/store.ts';

export const CONFIG_MAPS = { group: '', resource: 'configmaps' };

export const TEXT: Encoding = {
  id: 'text',
  encode: ({ type, entry, revision }) => Buffer.from(`${type} ${entry.name} ${revision}`),
};

/** Reads a watch: each event is a line such as `ADDED web 12` or `BOOKMARK 12`. Can be made to look full. */
export class Reader {
  readonly lines: string[] = [];
  full = false;
  readonly #encoding: Encoding;
  #room: (() => void)[] = [];
  #waiting: { count: number; resolve: () => void }[] = [];

  constructor(encoding = TEXT) {
    this.#encoding = encoding;
  }

  readonly take: TakeEvent = (event) => {
    this.lines.push(this.#line(event));
    for (const waiter of this.#waiting) if (this.lines.length >= waiter.count) waiter.resolve();
    return this.full ? new Promise((resolve) => this.#room.push(resolve)) : undefined;
  };

  drain(): void {
    this.full = false;
    for (const resolve of this.#room.splice(0)) resolve();
  }

  reached(count: number): Promise<void> {
    if (this.lines.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  #line(event: WatchEvent): string {
    return 'entry' in event ? event.encoded(this.#encoding).toString() : `${event.type} ${event.revision}`;
  }
}

export interface Watching {
  readonly start: WatchQuery['start'];
  readonly reader: Reader;
  readonly matches?: NonNullable<WatchQuery['matches']>;
  readonly bookmarks?: boolean;
}

/** Reads a watch of all config maps until the signal aborts. */
export async function readWatch(
  store: Pick<Store, 'watch'>,
  { reader, ...query }: Watching,
  signal: AbortSignal,
): Promise<void> {
  const events = await store.watch({ resource: CONFIG_MAPS, scope: {}, bookmarks: false, ...query }, signal);
  await events.deliver(reader.take);
}

export const revisionsOf = ({ lines }: Reader): bigint[] =>
  lines.map((line) => BigInt(line.split(' ')[2] ?? 0));
