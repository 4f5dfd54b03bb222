import { badRequest, internalError } from '../api/status.ts';
import { decodeExtraKey, headerEntries, headerValues } from '../authn/front-proxy.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { goQuote } from '../object/go-value.ts';
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
  const wish = readWish(request);
  if (wish.username === '' && asksForMore(wish))
    throw constrained === undefined
      ? internalError(`requested [${references(wish).join(' ')}] without impersonating a user`)
      : badRequest(`requested ${goUser(wish)} without impersonating a user name`);
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

function readWish(request: AuthenticatedRequest): Wish {
  const [username = ''] = headerValues(request, USER);
  const [uid = ''] = headerValues(request, UID);
  const groups = headerValues(request, GROUP);
  const extra = new Map<string, string[]>();
  for (const [name, value] of headerEntries(request, (header) => header.startsWith(EXTRA))) {
    const key = decodeExtraKey(name.slice(EXTRA.length));
    getOrAdd(extra, key, () => []).push(value);
  }
  return { username, groups, uid, extra };
}

const asksForMore = ({ groups, uid, extra }: Wish): boolean =>
  groups.length > 0 || uid !== '' || extra.size > 0;

const VERSION = 'authentication.k8s.io/v1';

/** Each part of a wish as Go prints its reference: kind, namespace, name, uid, version, revision and path. */
const references = ({ groups, uid, extra }: Wish): string[] => [
  ...groups.map((group) => `{Group  ${group}    }`),
  ...[...extra].flatMap(([key, values]) =>
    values.map((value) => `{UserExtra  ${value}  ${VERSION}  ${key}}`),
  ),
  ...(uid === '' ? [] : [`{UID  ${uid}  ${VERSION}  }`]),
];

/** The wish as Go prints it with its types. */
function goUser({ groups, uid, extra }: Wish): string {
  const list = (values: readonly string[]): string => `[]string{${values.map(goQuote).join(', ')}}`;
  const entries = [...extra].sort(([a], [b]) => (a < b ? -1 : 1));
  const notes = entries.map(([key, values]) => `${goQuote(key)}:${list(values)}`).join(', ');
  const said = groups.length === 0 ? '[]string(nil)' : list(groups);
  const more = extra.size === 0 ? 'map[string][]string(nil)' : `map[string][]string{${notes}}`;
  return `&user.DefaultInfo{Name:"", UID:${goQuote(uid)}, Groups:${said}, Extra:${more}}`;
}
