import type { ApiObject } from '../../api/object-meta.ts';
import { copyJson } from '../../object/equality.ts';
import type { AssignedValue, AssignedValues } from '../../registry/assigned-values.ts';
import type { ResourceDefinition } from '../../registry/definition.ts';
import { StorageError } from '../../storage/errors.ts';
import type { Hold, WriteVerb } from '../../storage/revision-log.ts';
import type { ValueAllocator } from './allocator.ts';

/** Other servers choose at random too: meeting them so often in a row means that next to nothing is free. */
const ATTEMPTS = 50;

export interface Assigning {
  readonly assigned: AssignedValues;
  readonly allocator: ValueAllocator;
  readonly dryRun: boolean;
  readonly old: ApiObject | undefined;
}

/**
 * Assigns values and finishes the write with them: again with others, as long as what the server chose turns out to be
 * taken. `finish` gets a copy of the object each time.
 * @throws StatusError
 */
export async function assignAndFinish<Result>(
  { assigned, allocator, dryRun, old }: Assigning,
  object: ApiObject,
  finish: (copy: ApiObject) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const copy = copyJson(object);
    const assignment = allocator.begin(dryRun);
    try {
      assigned.complete(copy, old);
      await assigned.assign(copy, old, assignment);
      const result = await finish(copy);
      assignment.end({ stored: true });
      return result;
    } catch (error) {
      const taken = takenValue(error);
      assignment.end(taken === undefined ? { stored: false } : { stored: false, taken });
      if (taken === undefined) throw error;
      if (!assignment.chose(taken) || attempt >= ATTEMPTS) throw assigned.whenTaken(copy, taken);
    }
  }
}

function takenValue(error: unknown): AssignedValue | undefined {
  return error instanceof StorageError && error.failure.kind === 'taken' ? error.failure.value : undefined;
}

/** What a write says about the values its object holds; undefined when it changes nothing about them. */
export function holdsOf(
  { strategy }: ResourceDefinition,
  verb: WriteVerb,
  object: ApiObject,
  old: ApiObject | undefined,
): readonly Hold[] | undefined {
  const { assigned } = strategy;
  if (assigned === undefined) return undefined;
  if (verb === 'delete') return [];
  const before = old === undefined ? [] : assigned.valuesOf(old);
  const isKept = ({ pool, value }: AssignedValue): boolean =>
    before.some((held) => held.pool === pool && held.value === value);
  const holds = assigned.valuesOf(object).map((held) => ({ ...held, kept: isKept(held) }));
  const same = holds.length === before.length && holds.every(({ kept }) => kept);
  return same ? undefined : holds;
}
