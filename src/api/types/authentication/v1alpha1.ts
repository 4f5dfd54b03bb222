// Written from src/api/idl/authentication/v1alpha1.proto by the build. Change that file, not this one.

import type { ObjectMeta } from '../meta/v1.ts';
import type { UserInfo } from './v1.ts';

/** Asks the server whom it takes the client for. Answered at once, never stored. */
export type SelfSubjectReview = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The answer. Filled in by the server. */
  status?: SelfSubjectReviewStatus;
};

/** The answer. */
export type SelfSubjectReviewStatus = {
  /** The user as whom the request was made; with impersonation, the one impersonated. */
  userInfo?: UserInfo;
};
