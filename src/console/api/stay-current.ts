import type { ApiObject } from '../model/api-object.ts';
import { ApiError, type Ask, ask, isAbort } from './ask.ts';
import {
  Backoff,
  isPassing,
  Lateness,
  type PersistOptions,
  pause,
  persist,
  whenReachable,
} from './persist.ts';
import { BRIEF_PAUSE_MS, BRIEF_SECONDS, takePlace } from './streams.ts';
import { whenVisible, whileVisible } from './visibility.ts';

/** The state of a watch. `refused`: the user may read, but not watch. */
export type WatchState = 'live' | 'resuming' | 'refused' | 'ended';

interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

interface Frame {
  readonly type: string;
  readonly object: unknown;
}

interface WatchOptions<T> {
  readonly path: string;
  readonly accept?: string;
  readonly query: Ask['query'];
  /** The revision of the delivered object. Undefined: none to resume from. */
  revisionOf(object: T): string | undefined;
  deliver(event: WatchEvent<T>): void;
  onState(state: WatchState): void;
}

interface StayOptions<T> extends PersistOptions {
  /** Returns the revision to follow from; undefined: do not follow. */
  read(): Promise<string | undefined>;
  readonly watch: WatchOptions<T>;
}

/**
 * Reads, then watches until the signal aborts; reads again when the missed changes were compacted. Without the right to watch
 * it only reads.
 *
 * @throws ApiError when the object is unreadable or missing
 */
export async function stayCurrent<T>({ read, watch, ...options }: StayOptions<T>): Promise<void> {
  const { signal } = options;
  const backoff = new Backoff();
  let refusals = 0;
  const onState = (state: WatchState): void => {
    if (state === 'live') refusals = 0;
    watch.onState(state);
  };
  for (;;) {
    await backoff.wait(signal);
    signal.throwIfAborted();
    const from = await persist(read, options);
    if (from === undefined || signal.aborted) return;
    const began = Date.now();
    try {
      await follow({ ...watch, onState }, { from, signal });
    } catch (error) {
      if (signal.aborted || isAbort(error)) return;
      // Another read shows whether reading is forbidden too, or the object gone.
      if (++refusals > 1) return onState('refused');
    }
    if (signal.aborted) return;
    if (Date.now() - began > LONG_MS) backoff.reset();
  }
}

/** A stream that lasted this long was not cut off at once. */
const LONG_MS = 20_000;

/**
 * Delivers events until the signal aborts, and resumes after interruptions. Closes the stream while the page is hidden.
 * Resolves when it cannot resume, because the missed changes were compacted.
 *
 * @throws ApiError when the server refuses it
 */
async function follow<T>(
  options: WatchOptions<T>,
  { from, signal }: { readonly from: string; readonly signal: AbortSignal },
): Promise<void> {
  const lateness = new Lateness();
  const onState = (state: WatchState): void => {
    if (state === 'live') lateness.report(undefined);
    options.onState(state);
  };
  try {
    await resume({ ...options, onState }, { from, signal, lateness });
  } finally {
    lateness.report(undefined);
  }
}

interface Resumed {
  readonly from: string;
  readonly signal: AbortSignal;
  readonly lateness: Lateness;
}

async function resume<T>(
  options: WatchOptions<T>,
  { from: first, signal, lateness }: Resumed,
): Promise<void> {
  const backoff = new Backoff();
  let from = first;
  const note = (revision: string): void => {
    from = revision;
  };
  while (!signal.aborted) {
    await whenVisible(signal);
    const visible = whileVisible(signal);
    const leave = await takePlace();
    const began = Date.now();
    let isBrief = leave === undefined;
    try {
      const stream = { from, note, isBrief, signal: visible.signal };
      if ((await once(options, stream)) === 'expired') return;
    } catch (error) {
      if (signal.aborted) return;
      if (!isAbort(error) && !isPassing(error) && error instanceof ApiError) throw error;
      isBrief = isBrief && isAbort(error);
      if (!isAbort(error)) options.onState('resuming');
      if (isPassing(error)) lateness.report(error);
    } finally {
      leave?.();
      visible.end();
    }
    // The page was hidden.
    if (visible.signal.aborted) continue;
    await whenReachable(signal);
    if (Date.now() - began > LONG_MS) backoff.reset();
    if (isBrief) await pause(BRIEF_PAUSE_MS, signal);
    else await backoff.wait(signal);
  }
}

interface Stream {
  readonly from: string;
  readonly isBrief: boolean;
  readonly signal: AbortSignal;
  note(revision: string): void;
}

async function once<T>(
  { path, accept, query, revisionOf, deliver, onState }: WatchOptions<T>,
  { from, isBrief, signal, note }: Stream,
): Promise<'expired' | 'ended'> {
  const response = await ask(path, {
    ...(accept === undefined ? {} : { accept }),
    query: {
      ...{ ...query, watch: '1', allowWatchBookmarks: 'true', resourceVersion: from },
      timeoutSeconds: isBrief ? String(BRIEF_SECONDS) : undefined,
    },
    signal,
  }).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 410) return undefined;
    throw error;
  });
  if (response === undefined) return 'expired';
  onState('live');
  for await (const line of linesOf(response)) {
    const { type, object } = JSON.parse(line) as Frame;
    if (type === 'ERROR') {
      if ((object as { code?: number }).code === 410) return 'expired';
      throw new Error('the watch was broken off');
    }
    const delivered = object as T;
    const revision = revisionOf(delivered);
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') deliver({ type, object: delivered });
    // Only after delivery: undelivered events are requested again.
    if (revision !== undefined && revision !== '') note(revision);
  }
  return 'ended';
}

async function* linesOf(response: Response): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '') yield line;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

export const revisionOfObject = ({ metadata }: ApiObject): string => metadata.resourceVersion;
