import type { AuthenticatedRequest, UserInfo } from '../request/api-request.ts';

export type Decision = 'allow' | 'deny' | 'no-opinion';

/**
 * Who wants to do what: a request, or what an access review asks about. `signal` ends an authorizer's own requests early;
 * a review may come without one.
 */
export type AuthorizationAttributes = Pick<AuthenticatedRequest, 'user' | 'verb' | 'target' | 'path'> &
  Partial<Pick<AuthenticatedRequest, 'signal'>>;

export interface Verdict {
  readonly decision: Decision;
  readonly reason: string;
  /** What kept an authorizer from answering. An access review shows it as evaluationError; without an allow it is a 500. */
  readonly error?: string;
}

/** What a user may do, as a SelfSubjectRulesReview shows it. */
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
  /** True: there is an authorizer that cannot list what it would allow. */
  readonly incomplete?: boolean;
  /** Why the list lacks something, as evaluationError. */
  readonly error?: string;
}

/** Says whether a request may be served. The first authorizer of a chain with an opinion decides. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Promise<Verdict> | Verdict;
  /** What the user may do in a namespace; '' asks for what holds in all of them. */
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

/** Mode AlwaysDeny: it does not allow, so that another one still may. */
export const alwaysDeny: Authorizer = {
  authorize: () => ({ decision: 'no-opinion', reason: 'Everything is forbidden.' }),
  rules: () => NO_RULES,
};

const MASTERS = 'system:masters';

export const isMaster = (user: UserInfo): boolean => user.groups.includes(MASTERS);

/**
 * Whoever is in system:masters may do everything, in every mode: with this one first in the chain a cluster stays
 * reachable whatever its roles say. Rules reviews do not show it, as in Kubernetes.
 */
export const allowMasters: Authorizer = {
  authorize: ({ user }) => (isMaster(user) ? ALLOW : NO_OPINION),
  rules: () => NO_RULES,
};
