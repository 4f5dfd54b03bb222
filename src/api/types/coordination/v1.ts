// Written from src/api/idl/coordination/v1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** Says who holds something, such as the lead among several instances, and until when. */
export type Lease = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Who holds the lease, and since when. */
  spec?: LeaseSpec;
};

/** A list of leases. */
export type LeaseList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The Leases of this page. */
  items?: Lease[] | null;
};

/** Who holds a lease, and since when. */
export type LeaseSpec = {
  /** Who holds the lease. Nobody if empty. */
  holderIdentity?: string;
  /** Seconds after renewTime until which others must leave the lease to its holder. Must be greater than 0. */
  leaseDurationSeconds?: number;
  /** When the holder took the lease. */
  acquireTime?: string;
  /** When the holder last renewed the lease. */
  renewTime?: string;
  /** How often the lease has gone from one holder to another. */
  leaseTransitions?: number;
  /** How the server chooses the holder among candidates, such as OldestEmulationVersion. The candidates settle it among themselves unless set. Needs the feature gate CoordinatedLeaderElection. */
  strategy?: string;
  /** Who should hold the lease next; the present holder is to give it up. Only together with strategy. */
  preferredHolder?: string;
};
