import { isDeleting } from '../../codec/stored-object.ts';
import type { Entry } from '../../storage/store.ts';
import { errorText } from '../../util/error-text.ts';
import { pause } from '../../util/pause.ts';
import { Pace } from '../../util/turns.ts';
import type { Client, RemoveOutcome, StoredResource } from '../../verbs/client/client.ts';

/** Objects removed in one commit, which leaves room for other writes. */
const TOGETHER = 256;
/** Objects removed before the list is read again. */
const IN_ONE_ROUND = 32 * TOGETHER;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

interface Instances {
  readonly client: Client;
  readonly resource: StoredResource;
  readonly signal: AbortSignal;
}

/**
 * Removes all objects of a resource, whether it is served or not. Several servers share the work without communicating: each
 * begins at a random place, and moves on where another has been.
 *
 * Resolves when the database has none of them, or with `held` when finalizers have held some for `patienceMs`; may be called
 * again.
 * @throws Error when objects cannot be removed, StorageError, or when the signal aborts
 */
export async function removeInstances(instances: Instances, patienceMs: number): Promise<'gone' | 'held'> {
  const { client, resource, signal } = instances;
  let waitedMs = 0;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    signal.throwIfAborted();
    const entries = await client.entries(resource, {}, waitedMs === 0 ? 'latest' : 'cached');
    const left = await withoutDeleting(entries);
    if (left.length > 0) {
      await removeRound(instances, left);
      continue;
    }
    if (entries.length === 0 && (await client.entries(resource)).length === 0) return 'gone';
    if (waitedMs >= patienceMs) return 'held';
    await pause(pauseMs, signal);
    waitedMs += pauseMs;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

/** Removes some of the objects, or all when they are few. */
async function removeRound(
  { client, resource, signal }: Instances,
  entries: readonly Entry[],
): Promise<void> {
  const start = Math.floor(Math.random() * entries.length);
  const round = [...entries.slice(start), ...entries.slice(0, start)].slice(0, IN_ONE_ROUND);
  for (let at = 0; at < round.length; at += TOGETHER) {
    signal.throwIfAborted();
    const some = round.slice(at, at + TOGETHER);
    const outcomes = await Promise.allSettled(some.map((entry) => client.removeStored(resource, entry)));
    refuseFailures(outcomes);
    const others = outcomes.filter((one) => one.status === 'fulfilled' && one.value === 'not-found');
    if (others.length > some.length / 2) return;
  }
}

/** @throws Error with the reasons why objects stay */
function refuseFailures(outcomes: readonly PromiseSettledResult<RemoveOutcome>[]): void {
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  if (reasons.length === 0) return;
  const texts = [...new Set(reasons.map(errorText))];
  const [only = ''] = texts;
  throw new Error(texts.length > 1 ? `[${texts.join(', ')}]` : only, { cause: reasons[0] });
}

async function withoutDeleting(entries: readonly Entry[]): Promise<Entry[]> {
  const pace = new Pace();
  const left: Entry[] = [];
  for (const entry of entries) {
    if (pace.isOver()) await pace.rest();
    if (!isDeleting(entry.json, entry.metadataEnd)) left.push(entry);
  }
  return left;
}
