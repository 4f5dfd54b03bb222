import { Slots } from '../../util/concurrency.ts';
import { isLarge } from '../../util/turns.ts';
import type { PastObject } from './past-objects.ts';
import { arrange } from './restore-order.ts';
import type { TimeLimit } from './time-limit.ts';

/** Concurrent writes. They share commits, so that more would not be faster, and would delay other requests. */
const CONCURRENCY = 24;
/** Concurrent writes of large objects, all of which compute in the same round of the event loop. */
const LARGE_CONCURRENCY = 2;

/** The result for an object, and whether the object exists now, so that others can belong to it. */
export interface Outcome<Result> {
  readonly result: Result;
  readonly isThere: boolean;
}

interface BulkOptions<Result> {
  readonly time: TimeLimit;
  /** Never rejects. */
  restore(object: PastObject): Promise<Outcome<Result>>;
  /** An owner of the object was to be restored too, and was not. */
  withoutOwner(object: PastObject, owner: PastObject): Result;
  /** The time was up before the object was begun, or while it was written. */
  outOfTime(object: PastObject, wasBegun: boolean): Result;
}

/** Restores objects, owners before dependents. Returns one result per object, in that order. */
export async function restoreAll<Result>(
  objects: readonly PastObject[],
  { time, restore, withoutOwner, outOfTime }: BulkOptions<Result>,
): Promise<Result[]> {
  const groups = arrange(
    objects.map((object) => ({ ...object, resource: object.definition.storage, object })),
  );
  const slots = new Slots(CONCURRENCY);
  const large = new Slots(LARGE_CONCURRENCY);
  const slotsOf = ({ sizeBytes }: PastObject): Slots => (isLarge(sizeBytes) ? large : slots);
  const results = new Map<PastObject, Result | 'begun'>();
  const missing = new Map<string, PastObject>();
  const restoreOne = async (object: PastObject): Promise<void> => {
    if (time.aborted) return;
    const owner = object.ownerUids.map((uid) => missing.get(uid)).find((one) => one !== undefined);
    if (owner !== undefined) {
      missing.set(object.uid, object);
      results.set(object, withoutOwner(object, owner));
      return;
    }
    results.set(object, 'begun');
    const { result, isThere } = await restore(object);
    if (!isThere) missing.set(object.uid, object);
    results.set(object, result);
  };
  const all = async (): Promise<void> => {
    for (const group of groups)
      await Promise.all(group.map(({ object }) => slotsOf(object).run(() => restoreOne(object))));
  };
  await time.until(all());
  return groups.flat().map(({ object }) => {
    const result = results.get(object);
    return result === undefined || result === 'begun' ? outOfTime(object, result === 'begun') : result;
  });
}
