import { badRequest, internalError } from '../api/status.ts';
import { decodeExtraKey, headerEntries, headerValues } from '../authn/front-proxy.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { type AuthenticatedRequest, markImpersonated } from '../request/api-request.ts';
import { getOrAdd } from '../util/get-or-add.ts';
import type { ConstrainedImpersonation } from './constrained-impersonation.ts';
import { impersonateUnconstrained, type Wish } from './impersonation-checks.ts';

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA = 'impersonate-extra-';
const PREFIX = 'impersonate-';

export interface ImpersonateOptions {
  readonly authorizer: Authorizer;
  /** Undefined: the feature ConstrainedImpersonation is off. */
  readonly constrained?: ConstrainedImpersonation | undefined;
}

/**
 * Lets a sender act as another user.
 * @throws StatusError 403; for a group, uid or extra value without a user 500, and 400 where impersonation can be constrained
 */
export async function impersonate(
  { authorizer, constrained }: ImpersonateOptions,
  request: AuthenticatedRequest,
): Promise<AuthenticatedRequest> {
  for (const [key, value] of Object.entries(request.authenticationNotes ?? {}))
    request.audit?.annotate(key, value);
  if (!isAsked(request)) return request;
  const wish = readWish(request, constrained === undefined ? internalError : badRequest);
  // An empty header has no effect.
  if (wish.username === '') return request;
  const { user, constraint } =
    constrained === undefined
      ? await impersonateUnconstrained(authorizer, request, wish)
      : await constrained.impersonate(request, wish);
  request.audit?.impersonated(user, constraint);
  for (const name of Object.keys(request.headers)) {
    if (name.startsWith(PREFIX)) delete request.headers[name];
  }
  return markImpersonated(request, user);
}

function isAsked({ headers }: AuthenticatedRequest): boolean {
  for (const name in headers) if (name.startsWith(PREFIX)) return true;
  return false;
}

function readWish(request: AuthenticatedRequest, incomplete: (message: string) => Error): Wish {
  const [username = ''] = headerValues(request, USER);
  const [uid = ''] = headerValues(request, UID);
  const groups = headerValues(request, GROUP);
  const extra = new Map<string, string[]>();
  for (const [name, value] of headerEntries(request, (header) => header.startsWith(EXTRA))) {
    const key = decodeExtraKey(name.slice(EXTRA.length));
    getOrAdd(extra, key, () => []).push(value);
  }
  if (username === '' && (groups.length > 0 || uid !== '' || extra.size > 0)) {
    const asked = [
      ...groups.map((group) => `Group ${group}`),
      ...[...extra.keys()].map((key) => `UserExtra ${key}`),
      ...(uid === '' ? [] : [`UID ${uid}`]),
    ];
    throw incomplete(`requested [${asked.join(', ')}] without impersonating a user`);
  }
  return { username, groups, uid, extra };
}
