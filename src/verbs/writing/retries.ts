import type { ApiObject } from '../../api/object-meta.ts';
import { StatusError } from '../../api/status.ts';
import { copyJson } from '../../object/equality.ts';
import { StorageError } from '../../storage/errors.ts';
import { type ObjectKey, toPosition } from '../../storage/key.ts';
import type { Entry, Freshness, Store } from '../../storage/store.ts';
import { Queues } from '../../util/concurrency.ts';
import { toStatusError } from '../storage-status.ts';
import { type Read, StaleRead } from './change.ts';
import { toKey, type WriteCall } from './write-call.ts';

/** With 27^5 suffixes a collision is rare; eight attempts make it unheard of (Kubernetes: RetryGenerateName). */
const NAME_ATTEMPTS = 8;
/** An update without a resourceVersion is repeated on conflict. Only other servers and threads can be faster so often. */
const ATTEMPTS = 30;

const LATEST: Freshness = { kind: 'latest' };

/** Generates another name when one is taken. `attempt` may change the object that it gets. */
export async function tryNames<Result>(
  object: ApiObject,
  attempt: (object: ApiObject) => Promise<Result>,
  retries = true,
): Promise<Result> {
  const { name = '', generateName = '' } = object.metadata;
  if (name !== '' || generateName === '' || !retries) return attempt(object);
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(copyJson(object));
    } catch (error) {
      if (!isAlreadyThere(error) || attempts >= NAME_ATTEMPTS) throw error;
    }
  }
}

/**
 * Retries of writes. Writes are optimistic: an attempt uses the cached object, which is nearly always current, and the commit
 * detects when it is not. A refusal counts only when it rests on an object that was read after the request began.
 *
 * Of several attempts at one object at a time only one can succeed. So the writes that met a conflict go on one after the other,
 * each as soon as the one before has its answer: 100 patches of one object cost 200 attempts, and would cost 5,000 side by side.
 */
export class Retries {
  readonly #contended = new Queues();

  /** Passes the current object to each attempt; undefined when there is none. @throws StatusError */
  async tryStates<Result>(
    store: Store,
    call: WriteCall,
    name: string,
    attempt: (read: Read | undefined) => Promise<Result>,
  ): Promise<Result> {
    const key = toKey(call, name);
    let freshness: Freshness = { kind: 'any' };
    let leaveQueue: (() => void) | undefined;
    try {
      for (let attempts = 1; ; attempts += 1) {
        const entry = await readEntry(store, call, key, freshness);
        // Before it learns of a promotion, a cache may be ahead of a conflict's revision, in a history that was lost.
        const fresh: boolean = entry === undefined || freshness.kind === 'latest';
        try {
          return await attempt(entry && { entry, fresh });
        } catch (error) {
          // A create that loses the race becomes an update.
          const lostRace = entry === undefined && isAlreadyThere(error);
          const next: Freshness | undefined = lostRace ? LATEST : nextFreshness(error, fresh);
          if (next === undefined || attempts >= ATTEMPTS) throw toStatusError(error, call.definition, name);
          freshness = next;
        }
        if (freshness.kind !== 'not-older' || leaveQueue !== undefined) continue;
        leaveQueue = await this.#contended.enter(toId(key));
        freshness = LATEST;
      }
    } finally {
      leaveQueue?.();
    }
  }
}

const toId = (key: ObjectKey): string => `${key.group}/${key.resource}/${toPosition(key)}`;

const isAlreadyThere = (error: unknown): boolean =>
  error instanceof StatusError && error.status.reason === 'AlreadyExists';

/** Confirms the absence of an object with a fresh read. */
async function readEntry(
  store: Store,
  { caller }: WriteCall,
  key: ObjectKey,
  freshness: Freshness,
): Promise<Entry | undefined> {
  try {
    const entry = await store.get(key, freshness, caller);
    return entry ?? (freshness.kind === 'latest' ? undefined : await store.get(key, LATEST, caller));
  } catch (error) {
    throw toStatusError(error, key, key.name);
  }
}

/** The freshness of the next read. Undefined: another attempt would not help. */
function nextFreshness(error: unknown, fresh: boolean): Freshness | undefined {
  if (error instanceof StaleRead || (error instanceof StatusError && !fresh)) return LATEST;
  if (!(error instanceof StorageError)) return undefined;
  if (error.failure.kind === 'conflict') return { kind: 'not-older', revision: error.failure.current };
  return error.failure.kind === 'not-found' ? LATEST : undefined;
}
