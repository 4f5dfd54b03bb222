import type { ApiObject } from '../../api/object-meta.ts';
import { copyJson } from '../../object/copy.ts';
import type { AssignedValue, AssignedValues } from '../../registry/assigned-values.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Hold, WriteVerb } from '../../storage/revision-log.ts';
import type { ValueAllocator } from './allocator.ts';

/** Other servers choose at random too: meeting them so often in a row means that next to nothing is free. */
const ATTEMPTS = 50;

export interface Allocation {
  /** How the resource has values allocated. */
  readonly values: AssignedValues;
  readonly allocator: ValueAllocator;
  readonly dryRun: boolean;
  readonly old: ApiObject | undefined;
}

/**
 * Allocates values to an object and finishes its write: again with other values, as long as one that the server chose turns
 * out to be another object's. `finish` gets a copy of the object each time.
 * @throws StatusError
 */
export async function allocateAndFinish<Result>(
  { values, allocator, dryRun, old }: Allocation,
  object: ApiObject,
  finish: (copy: ApiObject) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const copy = copyJson(object);
    const choice = allocator.begin(dryRun);
    try {
      values.complete(copy, old);
      await values.assign(copy, old, choice);
      const result = await finish(copy);
      choice.end({ stored: true });
      return result;
    } catch (error) {
      const taken = takenValue(error);
      choice.end(taken === undefined ? { stored: false } : { stored: false, taken });
      if (taken === undefined) throw error;
      if (!choice.includes(taken) || attempt >= ATTEMPTS) throw values.whenTaken(copy, taken);
    }
  }
}

function takenValue(error: unknown): AssignedValue | undefined {
  return error instanceof StorageError && error.failure.kind === 'taken' ? error.failure.value : undefined;
}

/** What a write says about the values that are allocated to its object; undefined when it changes nothing about them. */
export function allocatedBy(
  { strategy }: ResourceDefinition,
  verb: WriteVerb,
  object: ApiObject,
  old: ApiObject | undefined,
): readonly Hold[] | undefined {
  const { assigned } = strategy;
  if (assigned === undefined) return undefined;
  if (verb === 'delete') return [];
  const before = old === undefined ? [] : assigned.valuesOf(old);
  const isOld = ({ pool, value }: AssignedValue): boolean =>
    before.some((one) => one.pool === pool && one.value === value);
  const after = assigned.valuesOf(object).map((one) => ({ ...one, kept: isOld(one) }));
  const isSame = after.length === before.length && after.every(({ kept }) => kept);
  return isSame ? undefined : after;
}
