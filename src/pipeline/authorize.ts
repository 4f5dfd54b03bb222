import { forbidden, internalError } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { forbiddenMessage } from '../authz/forbidden-message.ts';
import { type AuthenticatedRequest, type AuthorizedRequest, markAuthorized } from '../request/api-request.ts';
import { logsTell } from './answer-errors.ts';
import { annotateVerdict } from './audit.ts';

/** Whether the caller may. @throws StatusError 403, or 500 when an authorizer could not say */
export async function authorize(
  { authorizer }: { readonly authorizer: Authorizer },
  request: AuthenticatedRequest,
): Promise<AuthorizedRequest> {
  const answer = authorizer.authorize(request);
  const verdict = answer instanceof Promise ? await answer : answer;
  annotateVerdict(request, verdict);
  const { decision, reason, error } = verdict;
  if (decision === 'allow') return markAuthorized(request);
  // A webhook's error has its address in it.
  if (error !== undefined) throw internalError(logsTell(request), new Error(error));
  const { target } = request;
  const resource = { group: target?.group ?? '', resource: target?.resource ?? '' };
  throw forbidden(resource, target?.name ?? '', forbiddenMessage(request, reason));
}
