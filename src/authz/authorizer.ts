import type { AuthenticatedRequest } from '../request/api-request.ts';

export type Decision = 'allow' | 'deny' | 'no-opinion';

/** Says whether a request may be served. The first authorizer of a chain with an opinion decides. */
export interface Authorizer {
  authorize(request: AuthenticatedRequest): Promise<Verdict> | Verdict;
}

export interface Verdict {
  readonly decision: Decision;
  readonly reason: string;
}

const ALLOW: Verdict = { decision: 'allow', reason: '' };
const NO_OPINION: Verdict = { decision: 'no-opinion', reason: '' };

export const alwaysDeny: Authorizer = {
  authorize: () => ({ decision: 'no-opinion', reason: 'Everything is forbidden.' }),
};

/** Whoever is known may do everything; whoever is not may do nothing but ask after health and version. */
export const allowAuthenticated: Authorizer = {
  authorize: (request) => {
    if (request.user.groups.includes('system:authenticated')) return ALLOW;
    return request.target === undefined && isPublic(request.path) ? ALLOW : NO_OPINION;
  },
};

/** Paths that Kubernetes' default roles open to everybody (system:public-info-viewer). */
const PUBLIC = ['/healthz', '/livez', '/readyz', '/version'];

const isPublic = (path: string): boolean => PUBLIC.some((open) => path === open || path === `${open}/`);
