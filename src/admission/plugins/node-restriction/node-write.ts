import type { AdmissionAttributes } from '../../admission.ts';
import type { ClusterObjects } from '../../cluster-objects.ts';

/** A write of a node. Whoever finds that it is none of its business throws a refusal. */
export interface NodeWrite {
  readonly node: string;
  readonly attributes: AdmissionAttributes;
  readonly objects: ClusterObjects;
  /** Feature gate RecoverVolumeExpansionFailure. */
  readonly recoversExpansion: boolean;
}
