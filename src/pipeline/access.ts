import type { IncomingHttpHeaders } from 'node:http';
import { forbidden, internalError, StatusError } from '../api/status.ts';
import {
  ANONYMOUS,
  type AnonymousAccess,
  type Authentication,
  type Authenticator,
} from '../authn/authenticator.ts';
import { decodeExtraKey, headerEntries, headerValues } from '../authn/front-proxy.ts';
import { groupsOf, parseUsername } from '../authn/service-account/signed-tokens.ts';
import { type Authorizer, forbiddenMessage } from '../authz/authorizer.ts';
import { withSelectors } from '../authz/selectors.ts';
import type { Logger } from '../observability/logger.ts';
import {
  type ApiRequest,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  markAuthenticated,
  markAuthorized,
  markImpersonated,
  type ResourceTarget,
  type UserInfo,
} from '../request/api-request.ts';
import { StorageError } from '../storage/errors.ts';
import { errorText } from '../util/error-text.ts';
import { logsTell } from './answer-errors.ts';
import { annotateVerdict } from './audit.ts';

export interface AuthenticateOptions {
  readonly authenticator: Authenticator;
  readonly anonymous: AnonymousAccess;
  /** Takes credentials off headers, so that they are not handed on. */
  readonly stripCredentials: (headers: IncomingHttpHeaders) => void;
  readonly logger: Logger;
}

/**
 * Authenticates the caller. Refuses wrong credentials rather than treat them as anonymous.
 * @throws StatusError 401; StorageError when the object behind the credentials cannot be read
 */
export async function authenticate(
  options: AuthenticateOptions,
  request: ApiRequest,
): Promise<AuthenticatedRequest> {
  const found = await identify(options, request);
  if (found === undefined && !options.anonymous.allows(request.path)) throw unauthenticated();
  options.stripCredentials(request.headers);
  if (found === undefined) return markAuthenticated(request, ANONYMOUS);
  for (const text of found.warnings ?? []) request.warn(text);
  return markAuthenticated(request, found.user, found.annotations);
}

async function identify(
  { authenticator, logger }: AuthenticateOptions,
  request: ApiRequest,
): Promise<Authentication | undefined> {
  try {
    return await authenticator.authenticate(request);
  } catch (error) {
    // The credentials may be valid: a 401 would make clients discard them.
    if (error instanceof StorageError) throw error;
    const err = errorText(error);
    logger.info(1, 'Unable to authenticate the request', { err, source: request.sourceAddress });
    throw unauthenticated(error);
  }
}

/** One message for every reason, because reasons would help a guesser. */
const unauthenticated = (cause?: unknown): StatusError =>
  new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }, { cause });

/** Authorizes the request. @throws StatusError 403, or 500 when an authorizer failed */
export async function authorize(
  {
    authorizer,
    asksWithSelectors,
  }: { readonly authorizer: Authorizer; readonly asksWithSelectors?: boolean },
  request: AuthenticatedRequest,
): Promise<AuthorizedRequest> {
  const answer = authorizer.authorize(asksWithSelectors === true ? withSelectors(request) : request);
  const verdict = answer instanceof Promise ? await answer : answer;
  annotateVerdict(request, verdict);
  const { decision, reason, error } = verdict;
  if (decision === 'allow') return markAuthorized(request);
  // The error of a webhook contains its address, so it goes to the log alone.
  if (error !== undefined) throw internalError(logsTell(request), new Error(error));
  const { target } = request;
  const resource = { group: target?.group ?? '', resource: target?.resource ?? '' };
  throw forbidden(resource, target?.name ?? '', forbiddenMessage(request, reason));
}

const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA = 'impersonate-extra-';
const PREFIX = 'impersonate-';
const AUTHENTICATION = 'authentication.k8s.io';
const ANONYMOUS_NAME = 'system:anonymous';
const AUTHENTICATED = 'system:authenticated';
const UNAUTHENTICATED = 'system:unauthenticated';

/**
 * Lets a sender act as another user. The user, every group, the uid and each extra value are authorized one by one (Kubernetes:
 * endpoints/filters/impersonation.go).
 * @throws StatusError 403; 500 for a group, uid or extra value without a user
 */
export async function impersonate(
  { authorizer }: { readonly authorizer: Authorizer },
  request: AuthenticatedRequest,
): Promise<AuthenticatedRequest> {
  for (const [key, value] of Object.entries(request.authenticationNotes ?? {}))
    request.audit?.annotate(key, value);
  if (!isAsked(request)) return request;
  const wish = readWish(request);
  // An empty header has no effect.
  if (wish.username === '') return request;
  for (const target of targetsOf(wish)) await check(authorizer, request, target);
  const user = toUser(wish);
  request.audit?.impersonated(user);
  for (const name of Object.keys(request.headers)) {
    if (name.startsWith(PREFIX)) delete request.headers[name];
  }
  return markImpersonated(request, user);
}

function isAsked({ headers }: AuthenticatedRequest): boolean {
  for (const name in headers) if (name.startsWith(PREFIX)) return true;
  return false;
}

interface Wish {
  readonly username: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

function readWish(request: AuthenticatedRequest): Wish {
  const [username = ''] = headerValues(request, USER);
  const [uid = ''] = headerValues(request, UID);
  const groups = headerValues(request, GROUP);
  const extra = new Map<string, string[]>();
  for (const [name, value] of headerEntries(request, (header) => header.startsWith(EXTRA))) {
    const key = decodeExtraKey(name.slice(EXTRA.length));
    extra.set(key, [...(extra.get(key) ?? []), value]);
  }
  if (username === '' && (groups.length > 0 || uid !== '' || extra.size > 0)) {
    const asked = [
      ...groups.map((group) => `Group ${group}`),
      ...[...extra.keys()].map((key) => `UserExtra ${key}`),
      ...(uid === '' ? [] : [`UID ${uid}`]),
    ];
    throw internalError(`requested [${asked.join(', ')}] without impersonating a user`);
  }
  return { username, groups, uid, extra };
}

function targetsOf({ username, groups, uid, extra }: Wish): ResourceTarget[] {
  const account = parseUsername(username);
  return [
    account === undefined
      ? toTarget({ resource: 'users', name: username })
      : toTarget({ resource: 'serviceaccounts', ...account }),
    ...groups.map((name) => toTarget({ resource: 'groups', name })),
    ...[...extra].flatMap(([subresource, values]) =>
      values.map((name) => toTarget({ group: AUTHENTICATION, resource: 'userextras', subresource, name })),
    ),
    ...(uid === '' ? [] : [toTarget({ group: AUTHENTICATION, resource: 'uids', name: uid })]),
  ];
}

const toTarget = (part: Partial<ResourceTarget> & Pick<ResourceTarget, 'resource'>): ResourceTarget => ({
  group: '',
  version: part.group === AUTHENTICATION ? 'v1' : '',
  namespace: '',
  name: '',
  subresource: '',
  subpath: '',
  ...part,
});

async function check(
  authorizer: Authorizer,
  { user, signal }: AuthenticatedRequest,
  target: ResourceTarget,
): Promise<void> {
  const attributes = { user, verb: 'impersonate', target, path: '' };
  const { decision, reason } = await authorizer.authorize({ ...attributes, signal });
  if (decision !== 'allow') throw forbidden(target, target.name, forbiddenMessage(attributes, reason));
}

function toUser({ username, groups, uid, extra }: Wish): UserInfo {
  const account = parseUsername(username);
  const given = groups.length === 0 && account !== undefined ? groupsOf(account.namespace) : groups;
  return { username, uid, groups: withOwnGroup(username, given), extra: Object.fromEntries(extra) };
}

/** An impersonated user counts as authenticated, unless it is the anonymous user or has the group of unauthenticated ones. */
function withOwnGroup(username: string, groups: readonly string[]): readonly string[] {
  if (username === ANONYMOUS_NAME)
    return groups.includes(UNAUTHENTICATED) ? groups : [...groups, UNAUTHENTICATED];
  return groups.includes(AUTHENTICATED) || groups.includes(UNAUTHENTICATED)
    ? groups
    : [...groups, AUTHENTICATED];
}
