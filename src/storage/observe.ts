import type { GroupResource } from '../api/names.ts';
import type { Entry, ObjectEvent, Store } from './store.ts';

/**
 * The objects of a resource as they are, as ADDED events, then every change, until the signal aborts. What does not match is as
 * if it were not there.
 * @throws StorageError compacted when the consumer fell behind the history; begin again
 */
export async function* observe(
  store: Store,
  resource: GroupResource,
  signal: AbortSignal,
  matches?: (entry: Entry) => boolean,
): AsyncGenerator<ObjectEvent> {
  const start = { kind: 'state', freshness: { kind: 'latest' } } as const;
  const selection = matches === undefined ? {} : { matches };
  const stream = await store.watch({ resource, scope: {}, start, bookmarks: false, ...selection }, signal);
  for await (const events of stream) for (const event of events) if ('entry' in event) yield event;
}
