import type { ApiObject } from '../model/json.ts';
import { ApiError, type Ask, ask, isAbort } from './client.ts';

/** How a watch is doing. */
export type WatchState = 'live' | 'resuming' | 'ended';

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: T;
}

interface Frame {
  readonly type: string;
  readonly object: unknown;
}

export interface WatchOptions<T> {
  readonly path: string;
  readonly accept?: string;
  readonly query: Ask['query'];
  /** Where to begin: the resourceVersion of a list. */
  readonly from: string;
  readonly signal: AbortSignal;
  /** The revision of what was delivered. Undefined: none that could be resumed from. */
  revisionOf(object: T): string | undefined;
  deliver(event: WatchEvent<T>): void;
  onState(state: WatchState): void;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Delivers events until the signal aborts, and resumes where it was cut off. Resolves when it cannot be resumed, because what was
 * missed is no longer kept, or it may not be watched: then the list must be read again.
 * @throws ApiError when the server refuses it
 */
export async function follow<T>(options: WatchOptions<T>): Promise<void> {
  let from = options.from;
  let pauseMs = 0;
  for (;;) {
    try {
      const ended = await once({ ...options, from }, (revision) => {
        from = revision;
        pauseMs = 0;
      });
      if (ended === 'expired') return;
    } catch (error) {
      if (options.signal.aborted || isAbort(error)) return;
      if (isFinal(error)) throw error;
    }
    if (options.signal.aborted) return;
    if (pauseMs > 0) options.onState('resuming');
    await pause(pauseMs * (0.75 + Math.random() / 2), options.signal);
    if (options.signal.aborted) return;
    pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pauseMs * 2));
  }
}

/** Asking again would not help. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;

async function once<T>(
  { path, accept, query, from, signal, revisionOf, deliver, onState }: WatchOptions<T>,
  note: (revision: string) => void,
): Promise<'expired' | 'ended'> {
  const response = await ask(path, {
    ...(accept === undefined ? {} : { accept }),
    query: { ...query, watch: '1', allowWatchBookmarks: 'true', resourceVersion: from },
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
    if (revision !== undefined && revision !== '') note(revision);
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') deliver({ type, object: delivered });
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
