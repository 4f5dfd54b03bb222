import type { ClusterObjects } from '../../cluster-objects.ts';

/** The node that writes, and what its writes are checked by. A check that finds a write to be none of its business refuses it. */
export interface WritingNode {
  readonly node: string;
  readonly objects: ClusterObjects;
  /** Feature gate RecoverVolumeExpansionFailure. */
  readonly recoversExpansion: boolean;
}
