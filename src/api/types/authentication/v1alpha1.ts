// Written from src/api/idl/authentication/v1alpha1.proto by the build. Change that file, not this one.

export type { SelfSubjectReview, SelfSubjectReviewStatus } from './v1.ts';
