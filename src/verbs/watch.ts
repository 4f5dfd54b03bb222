import type { JsonObject } from '../api/object-meta.ts';
import { type Status, StatusError } from '../api/status.ts';
import { assertStreams } from '../codec/negotiate.ts';
import { encodeFrame, streamType } from '../codec/wire-formats.ts';
import type { ServedResource } from '../registry/registry.ts';
import type { Caller } from '../request/api-request.ts';
import type { ApiResponse } from '../request/api-response.ts';
import { failureOf, StorageError } from '../storage/errors.ts';
import type { Revision } from '../storage/revision.ts';
import type { WatchQuery } from '../storage/store.ts';
import { refuseAsOf } from './as-of.ts';
import { Framing } from './forms/framing.ts';
import {
  checkWatchOptions,
  type ListOptions,
  readListOptions,
  toSelection,
  toWatchStart,
} from './list-options.ts';
import { formFor, representationFor } from './read.ts';
import { toStatusError, watchExpired } from './storage-status.ts';
import { earlierLifeOf, storeFor, type VerbCall, type VerbContext } from './verb-call.ts';

/**
 * Serves a watch. Answers errors of the request itself before it begins; later errors, an expired resourceVersion included, are
 * an ERROR event in a response of 200, where clients expect them.
 */
export function watch(call: VerbCall): ApiResponse {
  const { context, request, served } = call;
  const options = readListOptions(request.query, context.isFeatureOn);
  checkWatchOptions(options, context.watchList);
  refuseAsOf(request.query);
  const selection = toSelection(options, request.target, served);
  const isList = options.sendInitialEvents === true && options.allowWatchBookmarks;
  // Clients of Kubernetes before 1.34 assembled a list from the stream, and table rows are no items of a list.
  const representation = representationFor(call, { tables: !isList || context.streamsTables });
  assertStreams(representation, request.knowsCbor);
  const form = formFor(call, representation);
  const start = toWatchStart(options);
  const timeoutMs = chooseTimeout(context, options);
  const deadline = Date.now() + timeoutMs;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
  return {
    kind: 'stream',
    code: 200,
    contentType: streamType(representation),
    run: async (sink) => {
      const framing = new Framing({ form, sink, marksInitialEventsEnd: isList, deadline });
      try {
        const query: WatchQuery = {
          resource: served.definition.storage,
          scope: selection.scope,
          start: start === 'latest' ? await latest(context, request, served) : start,
          bookmarks: options.allowWatchBookmarks,
          ...(selection.matches === undefined ? {} : { matches: selection.matches }),
          sought: selection.sought,
        };
        if (query.start.kind === 'after') await assertOwnChanges(call, query.start.revision);
        const events = await storeFor(call).watch(query, signal);
        sink.open();
        const delivered = events.deliver(framing.take);
        // A state has an end event of its own. Changes in memory have been delivered by now.
        if (query.start.kind === 'after') sink.initialized?.();
        await delivered;
      } catch (error) {
        const status = toEnd(error, served, options);
        sink.open();
        const schema = context.types.message('meta/v1.Status');
        sink.write(encodeFrame('ERROR', toJsonObject(status), representation, schema));
      }
    },
  };
}

/** Watches without a timeout end at a random time, so that clients do not all return at once. */
function chooseTimeout({ minRequestTimeoutMs }: VerbContext, { timeoutSeconds }: ListOptions): number {
  if (timeoutSeconds !== undefined && timeoutSeconds > 0)
    return Math.min(timeoutSeconds * 1000, MAX_TIMER_MS);
  return Math.min(Math.floor(minRequestTimeoutMs * (1 + Math.random())), MAX_TIMER_MS);
}

/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

async function latest(
  { store }: VerbContext,
  caller: Caller,
  { definition }: ServedResource,
): Promise<WatchQuery['start']> {
  const page = await store.list({
    resource: definition.storage,
    scope: {},
    freshness: { kind: 'latest' },
    limit: 1,
    caller,
  });
  return { kind: 'after', revision: page.revision };
}

/** Checks that the name has not changed owners since; a client must list again then. @throws StorageError compacted */
async function assertOwnChanges(call: VerbCall, requested: Revision): Promise<void> {
  const found = await earlierLifeOf(call, requested);
  if (found !== undefined) throw new StorageError({ kind: 'compacted', requested, compacted: found.before });
}

/** Converts the error that ends a watch to its status. @throws errors that clients must not see */
function toEnd(error: unknown, { definition }: ServedResource, options: ListOptions): Status {
  const failure = failureOf(error, 'compacted');
  const known =
    failure === undefined
      ? toStatusError(error, definition, '')
      : watchExpired(BigInt(options.resourceVersion || 0), failure.compacted);
  if (known instanceof StatusError) return known.status;
  throw error;
}

const toJsonObject = (status: Status): JsonObject => ({ ...status }) as unknown as JsonObject;
