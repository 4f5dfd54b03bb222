import type { IncomingHttpHeaders } from 'node:http';
import { forbidden, internalError, StatusError } from '../api/status.ts';
import type { AnonymousAccess } from '../authn/anonymous.ts';
import { ANONYMOUS, type Authentication, type Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { forbiddenMessage } from '../authz/forbidden-message.ts';
import type { Logger } from '../observability/logger.ts';
import {
  type ApiRequest,
  type AuthenticatedRequest,
  type AuthorizedRequest,
  markAuthenticated,
  markAuthorized,
} from '../request/api-request.ts';
import { logsTell } from './answer-errors.ts';
import { annotateVerdict } from './audit.ts';

export interface AuthenticateOptions {
  readonly authenticator: Authenticator;
  readonly anonymous: AnonymousAccess;
  /** Takes credentials off headers, so that they are not handed on. */
  readonly stripCredentials: (headers: IncomingHttpHeaders) => void;
  readonly logger: Logger;
}

/** Finds out who is calling. Wrong credentials are refused; they do not make a caller anonymous. @throws StatusError 401 */
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
    const err = error instanceof Error ? error.message : String(error);
    logger.info(1, 'Unable to authenticate the request', { err, source: request.sourceAddress });
    throw unauthenticated(error);
  }
}

/** One message for every reason, because reasons would help a guesser. */
const unauthenticated = (cause?: unknown): StatusError =>
  new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }, { cause });

/** Asks whether the caller may. @throws StatusError 403, or 500 when an authorizer failed */
export async function authorize(
  { authorizer }: { readonly authorizer: Authorizer },
  request: AuthenticatedRequest,
): Promise<AuthorizedRequest> {
  const answer = authorizer.authorize(request);
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
