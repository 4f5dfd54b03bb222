import type { FieldRequirement, LabelRequirement } from '../object/selectors.ts';
import type { AuthenticatedRequest, UserInfo } from '../request/api-request.ts';

export type Decision = 'allow' | 'deny' | 'no-opinion';

/**
 * The question to an authorizer: a request, or the content of an access review. `signal` ends an authorizer's own requests early;
 * a review may come without one.
 */
export type AuthorizationAttributes = Pick<AuthenticatedRequest, 'user' | 'verb' | 'target' | 'path'> &
  Partial<Pick<AuthenticatedRequest, 'signal'>> & {
    /** The objects that the question is about; absent: all of them. */
    readonly selectors?: AskedSelectors;
  };

/** Which objects of a resource a question is about: those that meet all requirements. */
export interface AskedSelectors {
  readonly fields: readonly FieldRequirement[];
  readonly labels: readonly LabelRequirement[];
  /** Unreadable parts of the question, without which it covers more objects. */
  readonly problems: readonly string[];
}

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
 * regardless of its roles. Rules reviews do not show it, as in Kubernetes.
 */
export const allowMasters: Authorizer = {
  authorize: ({ user }) => (isMaster(user) ? ALLOW : NO_OPINION),
  rules: () => NO_RULES,
};

/**
 * Asks one authorizer after the other. The first allow or deny decides; without one the reasons and errors of all are joined.
 * Rules are the union of all rules (Kubernetes: authorization/union).
 */
export function createChain(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize: (attributes) => ask(authorizers, attributes),
    rules: (user, namespace) => union(authorizers.map((authorizer) => authorizer.rules(user, namespace))),
  };
}

async function ask(
  authorizers: readonly Authorizer[],
  attributes: AuthorizationAttributes,
): Promise<Verdict> {
  const reasons: string[] = [];
  const errors: string[] = [];
  for (const authorizer of authorizers) {
    const answer = authorizer.authorize(attributes);
    const verdict = answer instanceof Promise ? await answer : answer;
    if (verdict.decision !== 'no-opinion') return verdict;
    if (verdict.reason !== '') reasons.push(verdict.reason);
    if (verdict.error !== undefined) errors.push(verdict.error);
  }
  const error = joinErrors(errors);
  return {
    decision: 'no-opinion',
    reason: reasons.join('\n'),
    ...(error === undefined ? {} : { error }),
  };
}

function union(all: readonly Rules[]): Rules {
  const error = joinErrors(all.flatMap((rules) => (rules.error === undefined ? [] : [rules.error])));
  return {
    resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: all.some(({ incomplete }) => incomplete === true),
    ...(error === undefined ? {} : { error }),
  };
}

/**
 * Joins errors without duplicates: one stays as it is, several stand in brackets (apimachinery, util/errors, Aggregate).
 * Undefined when there are none.
 */
export function joinErrors(errors: readonly string[]): string | undefined {
  const distinct = [...new Set(errors)];
  return distinct.length > 1 ? `[${distinct.join(', ')}]` : distinct[0];
}

/** The words of a 403 (Kubernetes: handlers/responsewriters): `User "u" cannot get resource "pods" in API group "" in the namespace "ns"`. */
export function forbiddenMessage(
  { user, verb, target, path }: AuthorizationAttributes,
  reason: string,
): string {
  const why = reason === '' ? '' : `: ${reason}`;
  const who = `User ${JSON.stringify(user.username)}`;
  if (target === undefined) return `${who} cannot ${verb} path ${JSON.stringify(path)}${why}`;
  const resource = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
  const what = `${who} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(target.group)}`;
  const where =
    target.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(target.namespace)}`;
  return `${what} ${where}${why}`;
}
