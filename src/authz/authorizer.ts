import type { AuthenticatedRequest, UserInfo } from '../request/api-request.ts';

export type Decision = 'allow' | 'deny' | 'no-opinion';

/** Who wants to do what: a request, or what an access review asks about. */
export type AuthorizationAttributes = Pick<AuthenticatedRequest, 'user' | 'verb' | 'target' | 'path'>;

export interface Verdict {
  readonly decision: Decision;
  readonly reason: string;
}

/** What a user may do, as a SelfSubjectRulesReview shows it. */
export interface Rules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
  }[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs: readonly string[];
  }[];
}

/** Says whether a request may be served. The first authorizer of a chain with an opinion decides. */
export interface Authorizer {
  authorize(attributes: AuthorizationAttributes): Promise<Verdict> | Verdict;
  rules(user: UserInfo): Rules;
}

const ALLOW: Verdict = { decision: 'allow', reason: '' };
const NO_OPINION: Verdict = { decision: 'no-opinion', reason: '' };

/** Paths that Kubernetes' default roles open to everybody (system:public-info-viewer). */
const PUBLIC = ['/healthz', '/livez', '/readyz', '/version'];

const isPublic = (path: string): boolean => PUBLIC.some((open) => path === open || path === `${open}/`);
const isKnown = (user: UserInfo): boolean => user.groups.includes('system:authenticated');

/** Whoever is known may do everything; whoever is not may do nothing but ask after health and version. */
export const allowAuthenticated: Authorizer = {
  authorize: ({ user, target, path }) => {
    if (isKnown(user)) return ALLOW;
    return target === undefined && isPublic(path) ? ALLOW : NO_OPINION;
  },
  rules: (user) =>
    isKnown(user)
      ? {
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        }
      : { resourceRules: [], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: PUBLIC }] },
};
