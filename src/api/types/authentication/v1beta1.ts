// Written from src/api/idl/authentication/v1beta1.proto by the build. Change that file, not this one.

import type { ObjectMeta } from '../meta/v1.ts';
import type { UserInfo as AuthenticationV1UserInfo } from './v1.ts';

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
  userInfo?: AuthenticationV1UserInfo;
};

/** Asks whether a token is valid, and whose it is. Answered at once, never stored. */
export type TokenReview = {
  kind: string;
  apiVersion: string;
  /** Name, labels and the rest that every object has. */
  metadata: ObjectMeta;
  /** The question. */
  spec?: TokenReviewSpec;
  /** The answer. Filled in by the server. */
  status?: TokenReviewStatus;
};

/** The token in question. */
export type TokenReviewSpec = {
  /** The token. Confidential. */
  token?: string;
  /** Who asks: the token must be meant for one of these. The API server unless set. */
  audiences?: string[];
};

/** The answer. */
export type TokenReviewStatus = {
  /** The token is valid. */
  authenticated?: boolean;
  /** Whose token it is. Set only if it is valid. */
  user?: UserInfo;
  /** Those of the audiences asked for that the token is meant for. If empty, the authenticator does not know audiences, and the token is for the API server. */
  audiences?: string[];
  /** Why the token could not be checked. */
  error?: string;
};

/** Who someone is. */
export type UserInfo = {
  /** Name of the user, unique among those that exist now. */
  username?: string;
  /** Identifies the user for all time, unlike the name. May be empty. */
  uid?: string;
  /** Groups the user belongs to. */
  groups?: string[];
  /** What else the authenticator says about the user, by key. */
  extra?: { [key: string]: string[] };
};
