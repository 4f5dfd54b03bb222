// Written from src/api/idl/coordination/v1alpha2.proto by the build. Change that file, not this one.

export type { LeaseCandidate, LeaseCandidateList, LeaseCandidateSpec } from './v1beta1.ts';
