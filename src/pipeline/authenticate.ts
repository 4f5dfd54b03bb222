import type { IncomingHttpHeaders } from 'node:http';
import { StatusError } from '../api/status.ts';
import type { AnonymousAccess } from '../authn/anonymous.ts';
import { ANONYMOUS, type Authentication, type Authenticator } from '../authn/authenticator.ts';
import type { Logger } from '../observability/logger.ts';
import { type ApiRequest, type AuthenticatedRequest, markAuthenticated } from '../request/api-request.ts';

export interface AuthenticateOptions {
  readonly authenticator: Authenticator;
  readonly anonymous: AnonymousAccess;
  /** Takes credentials off headers, so that they are not handed on. */
  readonly stripCredentials: (headers: IncomingHttpHeaders) => void;
  readonly logger: Logger;
}

/** Who is calling. Wrong credentials are not none: nobody becomes anonymous by them. @throws StatusError 401 */
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

/** The same words for every reason: they would help a guesser. */
const unauthenticated = (cause?: unknown): StatusError =>
  new StatusError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }, { cause });
