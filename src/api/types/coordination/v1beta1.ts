// Written from src/api/idl/coordination/v1beta1.proto by the build. Change that file, not this one.

export type { LeaseCandidate, LeaseCandidateList, LeaseCandidateSpec } from './v1alpha2.ts';
