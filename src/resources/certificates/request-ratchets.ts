import { type Ratchet, ratchetOf } from '../validation/ratchet.ts';

/** What the first version of the API took, and what its objects may still be (Kubernetes: certificates/validation). */
export const REQUEST_RATCHETS: readonly Ratchet[] = [
  ratchetOf(/^spec\.signerName$/, /the legacy signerName is not allowed via this API version$/),
  ratchetOf(/^spec\.usages\[\d+\]$/, /^Unsupported value/),
  ratchetOf(/^spec\.usages\[\d+\]$/, /^Duplicate value/),
  ratchetOf(/^status\.conditions\[\d+\]\.type$/, /^Required value/),
  ratchetOf(/^status\.conditions\[\d+\]\.type$/, /^Duplicate value/),
  ratchetOf(/^status\.conditions\[\d+\]\.type$/, /are mutually exclusive$/),
];
