import type { GroupResource } from '../api/names.ts';
import type { ObjectKey } from './key.ts';
import type { Revision } from './revision.ts';

/**
 * Values that one object of the cluster holds at a time. They change hands only with the write that says so
 * ({@link Write.holds}); this is how they are looked at, and put right again.
 */
export interface Allocations {
  /** All values of a pool that are held. @throws StorageError */
  held(pool: string): Promise<string[]>;
  holder(value: PoolValue): Promise<ObjectKey | undefined>;
  /**
   * Makes the allocations those of the live objects of one resource: `holders` are all of them. An object that was written
   * since is left alone, because its write took care of its values.
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
  /** Held by a live object, and nobody's until now. */
  readonly added: readonly Allocation[];
  /** Held by nobody any more. */
  readonly removed: readonly Allocation[];
  /** In the object, but held by another. */
  readonly contested: readonly Allocation[];
}

export interface Allocation extends PoolValue {
  readonly namespace: string;
  readonly name: string;
}
