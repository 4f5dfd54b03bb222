import type { AuthenticatedRequest, UserInfo } from '../request/api-request.ts';

export type Decision = 'allow' | 'deny' | 'no-opinion';

/**
 * The question to an authorizer: a request, or the content of an access review. `signal` ends an authorizer's own requests early;
 * a review may come without one.
 */
export type AuthorizationAttributes = Pick<AuthenticatedRequest, 'user' | 'verb' | 'target' | 'path'> &
  Partial<Pick<AuthenticatedRequest, 'signal'>>;

export interface Verdict {
  readonly decision: Decision;
  readonly reason: string;
  /** The error of an authorizer that could not answer. A review shows it as evaluationError; without an allow it makes a 500. */
  readonly error?: string;
}

/** The rights of a user, as a SelfSubjectRulesReview shows them. */
export interface Rules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs: readonly string[];
  }[];
  /** True: one of the authorizers cannot list its rules. */
  readonly incomplete?: boolean;
  /** Why the list is incomplete, as evaluationError. */
  readonly error?: string;
}

/** Decides whether a request may be served. The first authorizer of a chain with an opinion decides. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Promise<Verdict> | Verdict;
  /** The user's rights in a namespace; '' asks for the rights in all of them. */
  rules(user: UserInfo, namespace?: string): Rules;
}

export const ALLOW: Verdict = { decision: 'allow', reason: '' };
export const NO_OPINION: Verdict = { decision: 'no-opinion', reason: '' };
export const NO_RULES: Rules = { resourceRules: [], nonResourceRules: [] };

const EVERYTHING: Rules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

/** Mode AlwaysAllow. */
export const alwaysAllow: Authorizer = { authorize: () => ALLOW, rules: () => EVERYTHING };

/** Mode AlwaysDeny: never allows, but another authorizer still may. */
export const alwaysDeny: Authorizer = {
  authorize: () => ({ decision: 'no-opinion', reason: 'Everything is forbidden.' }),
  rules: () => NO_RULES,
};

const MASTERS = 'system:masters';

export const isMaster = (user: UserInfo): boolean => user.groups.includes(MASTERS);

/**
 * Allows members of system:masters everything, in every mode. It comes first in the chain, so that a cluster stays reachable
 * whatever its roles say. Rules reviews do not show it, as in Kubernetes.
 */
export const allowMasters: Authorizer = {
  authorize: ({ user }) => (isMaster(user) ? ALLOW : NO_OPINION),
  rules: () => NO_RULES,
};
