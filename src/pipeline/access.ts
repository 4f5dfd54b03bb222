import type { IncomingHttpHeaders } from 'node:http';
import { AccessDenied, internalError, StatusError } from '../api/status.ts';
import {
  ANONYMOUS,
  type AnonymousAccess,
  type Authentication,
  type Authenticator,
} from '../authn/authenticator.ts';
import { type Authorizer, forbiddenMessage, type Verdict } from '../authz/authorizer.ts';
import { withSelectors } from '../authz/review-selectors.ts';
import type { AccessMetrics } from '../observability/access-metrics.ts';
import type { Logger } from '../observability/logger.ts';
import {
  type ApiRequest,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  markAuthenticated,
  markAuthorized,
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
  readonly accessMetrics: AccessMetrics;
}

/**
 * Authenticates the caller. Refuses wrong credentials rather than treat them as anonymous.
 * @throws StatusError 401; StorageError when the object behind the credentials cannot be read
 */
export async function authenticate(
  options: AuthenticateOptions,
  request: ApiRequest,
): Promise<AuthenticatedRequest> {
  const { accessMetrics } = options;
  const begun = performance.now();
  const found = await identify(options, request, begun);
  if (found === undefined && !options.anonymous.allows(request.path)) {
    accessMetrics.authenticated('failure', begun);
    throw unauthenticated();
  }
  accessMetrics.authenticated('success', begun, (found?.user ?? ANONYMOUS).username);
  options.stripCredentials(request.headers);
  if (found === undefined) return markAuthenticated(request, ANONYMOUS);
  for (const text of found.warnings ?? []) request.warn(text);
  return markAuthenticated(request, found.user, found.annotations);
}

async function identify(
  { authenticator, logger, accessMetrics }: AuthenticateOptions,
  request: ApiRequest,
  begun: number,
): Promise<Authentication | undefined> {
  try {
    return await authenticator.authenticate(request);
  } catch (error) {
    accessMetrics.authenticated('error', begun);
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
    accessMetrics,
  }: {
    readonly authorizer: Authorizer;
    readonly asksWithSelectors?: boolean;
    readonly accessMetrics: AccessMetrics;
  },
  request: AuthenticatedRequest,
): Promise<AuthorizedRequest> {
  const begun = performance.now();
  const answer = authorizer.authorize(asksWithSelectors === true ? withSelectors(request) : request);
  const verdict = answer instanceof Promise ? await answer : answer;
  accessMetrics.authorized(resultOf(verdict), begun);
  annotateVerdict(request, verdict);
  const { decision, reason, error } = verdict;
  if (decision === 'allow') return markAuthorized(request);
  // The error of a webhook contains its address, so it goes to the log alone.
  if (error !== undefined) throw internalError(logsTell(request), new Error(error));
  const { target } = request;
  const resource = { group: target?.group ?? '', resource: target?.resource ?? '' };
  throw new AccessDenied(resource, target?.name ?? '', forbiddenMessage(request, reason));
}

/** An allow counts as such, also where another authorizer failed. */
function resultOf({ decision, error }: Verdict): 'allowed' | 'denied' | 'no-opinion' | 'error' {
  if (decision === 'allow') return 'allowed';
  if (error !== undefined) return 'error';
  return decision === 'deny' ? 'denied' : 'no-opinion';
}
