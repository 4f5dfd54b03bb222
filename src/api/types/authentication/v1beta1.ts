// Written from src/api/idl/authentication/v1beta1.proto by the build. Change that file, not this one.

export type { SelfSubjectReview, SelfSubjectReviewStatus, TokenReview } from './v1.ts';
