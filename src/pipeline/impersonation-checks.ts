import { AccessDenied } from '../api/status.ts';
import { groupsOf, parseUsername } from '../authn/service-account/signed-tokens.ts';
import { type AuthorizationAttributes, type Authorizer, forbiddenMessage } from '../authz/authorizer.ts';
import type { AuthenticatedRequest, ResourceTarget, UserInfo } from '../request/api-request.ts';

/** The group of the resources that stand for users in questions about impersonation. */
export const AUTHENTICATION = 'authentication.k8s.io';
const ANONYMOUS_NAME = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/** The user that the headers name. */
export interface Wish {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** The user that the sender acts as, and the verb that allowed it, where a constrained one did. */
export interface Impersonated {
  readonly user: UserInfo;
  readonly constraint: string;
}

/**
 * Asks with the verb impersonate for the user, every group, the uid and each extra value one by one (Kubernetes:
 * endpoints/filters/impersonation.go). @throws StatusError 403
 */
export async function impersonateUnconstrained(
  authorizer: Authorizer,
  { user, signal }: AuthenticatedRequest,
  wish: Wish,
): Promise<Impersonated> {
  for (const target of targetsOf(wish))
    await mustAllow(authorizer, { user, verb: 'impersonate', target, path: '', signal });
  return { user: toUser(wish), constraint: '' };
}

function targetsOf({ username, groups, uid, extra }: Wish): ResourceTarget[] {
  const account = parseUsername(username);
  return [
    account === undefined
      ? toTarget({ resource: 'users', name: username })
      : toTarget({ resource: 'serviceaccounts', ...account }),
    ...groups.map((name) => toTarget({ resource: 'groups', name })),
    ...extraTargets(extra),
    ...(uid === '' ? [] : [toTarget({ group: AUTHENTICATION, resource: 'uids', name: uid })]),
  ];
}

export const extraTargets = (extra: Wish['extra']): ResourceTarget[] =>
  [...extra].flatMap(([subresource, values]) =>
    values.map((name) => toTarget({ group: AUTHENTICATION, resource: 'userextras', subresource, name })),
  );

export const toTarget = (
  part: Partial<ResourceTarget> & Pick<ResourceTarget, 'resource'>,
): ResourceTarget => ({
  group: '',
  version: part.group === AUTHENTICATION ? 'v1' : '',
  namespace: '',
  name: '',
  subresource: '',
  subpath: '',
  ...part,
});

/** @throws StatusError 403 */
export async function mustAllow(
  authorizer: Pick<Authorizer, 'authorize'>,
  attributes: AuthorizationAttributes,
): Promise<void> {
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision === 'allow') return;
  const { target } = attributes;
  const resource = { group: target?.group ?? '', resource: target?.resource ?? '' };
  throw new AccessDenied(resource, target?.name ?? '', forbiddenMessage(attributes, reason));
}

function toUser({ username, groups, uid, extra }: Wish): UserInfo {
  const account = parseUsername(username);
  const given = groups.length === 0 && account !== undefined ? groupsOf(account.namespace) : groups;
  return { username, uid, groups: withOwnGroup(username, given), extra: Object.fromEntries(extra) };
}

/** An impersonated user counts as authenticated, unless it is the anonymous user or has the group of unauthenticated ones. */
export function withOwnGroup(username: string, groups: readonly string[]): readonly string[] {
  if (username === ANONYMOUS_NAME)
    return groups.includes(UNAUTHENTICATED) ? groups : [...groups, UNAUTHENTICATED];
  return groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)
    ? groups
    : [...groups, AUTHENTICATED];
}
