import type { ApiObject } from '../api/object-meta.ts';
import type { StatusError } from '../api/status.ts';
import type { ValuePool } from './value-pool.ts';

/**
 * What a resource needs whose objects hold values that must be unique in the cluster. The strategy chooses and names them;
 * the write that stores the object claims and releases them, and is repeated with others when another write was faster.
 */
export interface AssignedValues<T extends ApiObject = ApiObject> {
  /** Fills in what a write leaves out, before values are assigned. Changes `object`. */
  complete(object: T, old: T | undefined): void;
  /** Fills in what the server assigns. Changes `object`. @throws StatusError */
  assign(object: T, old: T | undefined, values: ValueSource): Promise<void>;
  /** Everything an object holds, each value once. */
  valuesOf(object: T): AssignedValue[];
  /** The answer when another object holds a value that the caller asked for. */
  whenTaken(object: T, value: AssignedValue): StatusError;
}

export interface AssignedValue {
  /** The name of a {@link ValuePool}. */
  readonly pool: string;
  readonly value: string;
}

/** Where the values of one write come from. */
export interface ValueSource {
  /** In the order of the server's preference. */
  readonly pools: readonly ValuePool[];
  /** Chooses a free value. @throws PoolFull */
  pick(pool: ValuePool): Promise<string>;
  /** Whether a value that the caller asks for may be had, as far as that is to be known before the write. */
  isFree(value: AssignedValue, object: ApiObject): Promise<boolean>;
}

export class PoolFull extends Error {
  constructor() {
    super('range is full');
    this.name = 'PoolFull';
  }
}
