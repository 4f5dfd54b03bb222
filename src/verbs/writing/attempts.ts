import type { ApiObject } from '../../api/object-meta.ts';
import { StatusError } from '../../api/status.ts';
import { copyJson } from '../../object/copy.ts';
import { StorageError } from '../../storage/errors.ts';
import type { ObjectKey } from '../../storage/key.ts';
import type { Entry, Freshness, Store } from '../../storage/store.ts';
import { toKey, type WriteCall } from './call.ts';
import { type Read, StaleRead } from './preconditions.ts';
import { toStatusError } from './storage-status.ts';

/**
 * How often a write is tried. Writes are optimistic: an attempt works on what the cache has, which is nearly always right, and
 * the commit finds out when it is not. A refusal counts only when it was made from an object that was read after the request
 * began.
 */

/** With 27^5 suffixes a collision is rare; eight attempts make it unheard of (Kubernetes: RetryGenerateName). */
const NAME_ATTEMPTS = 8;
/** An update without a resourceVersion is repeated on conflict; under a storm of writers it gives up rather than spin. */
const ATTEMPTS = 30;

const LATEST: Freshness = { kind: 'latest' };

/** A name that the server makes up is made up again when it is taken. `attempt` may change the object that it gets. */
export async function tryNames<Result>(
  object: ApiObject,
  attempt: (object: ApiObject) => Promise<Result>,
): Promise<Result> {
  const { name = '', generateName = '' } = object.metadata;
  if (name !== '' || generateName === '') return attempt(object);
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(copyJson(object));
    } catch (error) {
      if (!isAlreadyThere(error) || attempts >= NAME_ATTEMPTS) throw error;
    }
  }
}

/** Gives each attempt the object as it is; undefined when there is none. @throws StatusError */
export async function tryStates<Result>(
  store: Store,
  call: WriteCall,
  name: string,
  attempt: (read: Read | undefined) => Promise<Result>,
): Promise<Result> {
  const key = toKey(call, name);
  let freshness: Freshness = { kind: 'any' };
  for (let attempts = 1; ; attempts += 1) {
    const entry = await readEntry(store, call, key, freshness);
    const fresh: boolean = entry === undefined || freshness.kind !== 'any';
    try {
      return await attempt(entry && { entry, fresh });
    } catch (error) {
      // A create that loses the race becomes an update.
      const lostRace = entry === undefined && isAlreadyThere(error);
      const next: Freshness | undefined = lostRace ? LATEST : nextFreshness(error, fresh);
      if (next === undefined || attempts >= ATTEMPTS) throw toStatusError(error, call.definition, name);
      freshness = next;
    }
  }
}

const isAlreadyThere = (error: unknown): boolean =>
  error instanceof StatusError && error.status.reason === 'AlreadyExists';

/** The cache's word that there is no object is not taken. */
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

/** How fresh the next read must be. Undefined: another attempt would not help. */
function nextFreshness(error: unknown, fresh: boolean): Freshness | undefined {
  if (error instanceof StaleRead || (error instanceof StatusError && !fresh)) return LATEST;
  if (!(error instanceof StorageError)) return undefined;
  if (error.failure.kind === 'conflict') return { kind: 'not-older', revision: error.failure.current };
  return error.failure.kind === 'not-found' ? LATEST : undefined;
}
