// Written from src/api/idl/coordination/v1beta1.proto by the build. Change that file, not this one.

import type { ListMeta, ObjectMeta } from '../meta/v1.ts';

/** An instance that would hold a lease if it were chosen. Needs the feature gate CoordinatedLeaderElection. */
export type LeaseCandidate = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** Which lease the candidate wants, and which version it runs. */
  spec?: LeaseCandidateSpec;
};

/** A list of lease candidates. */
export type LeaseCandidateList = {
  kind?: string;
  apiVersion?: string;
  /** The revision the list shows, and where it goes on. */
  metadata?: ListMeta;
  /** The LeaseCandidates of this page. */
  items?: LeaseCandidate[] | null;
};

/** Which lease a candidate wants, and which version it runs. */
export type LeaseCandidateSpec = {
  /** Name of the lease, in the same namespace. Cannot be changed. */
  leaseName?: string;
  /** When the server last asked whether the candidate is still there. It answers by setting renewTime. */
  pingTime?: string;
  /** When the candidate last renewed its entry. Entries not renewed for a long time are deleted. */
  renewTime?: string;
  /** Version of the program, such as 1.33.0. */
  binaryVersion?: string;
  /** Version whose behaviour the program shows, such as 1.32.0; not higher than binaryVersion. Required for OldestEmulationVersion. */
  emulationVersion?: string;
  /** How the candidate would have the holder chosen. Where candidates differ, the one with the newest binaryVersion decides. */
  strategy?: string;
};
