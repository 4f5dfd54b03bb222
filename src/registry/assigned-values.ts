import type { ApiObject } from '../api/object-meta.ts';
import type { StatusError } from '../api/status.ts';
import type { ValuePool } from './value-pool.ts';

/**
 * Assigns cluster-unique values to a resource's objects. The strategy chooses and names them; the write of the object claims
 * and releases them, and is repeated with others when another write was faster.
 */
export interface AssignedValues<T extends ApiObject = ApiObject> {
  /** Completes an object before values are assigned. Changes `object`. */
  complete(object: T, old: T | undefined): void;
  /** Sets the values that the server assigns. Changes `object`. @throws StatusError */
  assign(object: T, old: T | undefined, values: ValueSource): Promise<void>;
  /** All values that an object holds, each once. */
  valuesOf(object: T): AssignedValue[];
  /** The answer when another object holds a value that the caller asked for. */
  whenTaken(object: T, value: AssignedValue): StatusError;
}

export interface AssignedValue {
  /** The name of a {@link ValuePool}. */
  readonly pool: string;
  readonly value: string;
}

/** The source of values for one write. */
export interface ValueSource {
  /** In order of preference. */
  readonly pools: readonly ValuePool[];
  /** Chooses a free value. @throws PoolFull */
  pick(pool: ValuePool): Promise<string>;
  /** Whether a requested value seems free; only the write itself decides. */
  isFree(value: AssignedValue, object: ApiObject): Promise<boolean>;
}

export class PoolFull extends Error {
  constructor() {
    super('range is full');
    this.name = 'PoolFull';
  }
}
