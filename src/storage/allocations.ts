import type { GroupResource } from '../api/names.ts';
import type { ObjectKey } from './key.ts';
import type { Revision } from './revision.ts';

/**
 * Allocations reads and repairs the values that one object of the cluster holds at a time. Values change hands only with the write
 * that says so ({@link Write.holds}).
 */
export interface Allocations {
  /** Returns all held values of a pool. @throws StorageError */
  held(pool: string): Promise<string[]>;
  holder(value: PoolValue): Promise<ObjectKey | undefined>;
  /**
   * Makes the allocations of one resource those of its live objects, which are all in `holders`. Skips an object that was written
   * since: its write took care of its values.
   */
  repair(resource: GroupResource, holders: readonly Holder[]): Promise<RepairReport>;
}

export interface PoolValue {
  /** For example `IPv4` or `NodePort`. */
  readonly pool: string;
  readonly value: string;
}

/** A live object as of one revision, with everything it holds. */
export interface Holder {
  readonly namespace: string;
  readonly name: string;
  readonly revision: Revision;
  readonly values: readonly PoolValue[];
}

export interface RepairReport {
  /** Held by a live object; had no holder before. */
  readonly added: readonly Allocation[];
  /** Held by no live object any more. */
  readonly removed: readonly Allocation[];
  /** In the object, but held by another one. */
  readonly contested: readonly Allocation[];
}

export interface Allocation extends PoolValue {
  readonly namespace: string;
  readonly name: string;
}
