import { forbidden } from '../api/status.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import { forbiddenMessage } from '../authz/forbidden-message.ts';
import type { AuthorizedResourceRequest } from '../request/api-request.ts';

/**
 * A PUT or an apply of an object that does not exist creates it, and needs the right to create, too.
 * @throws StatusError 403
 */
export async function assertMayCreate(
  authorizer: Authorizer,
  request: AuthorizedResourceRequest,
): Promise<void> {
  const { user, path, target, signal } = request;
  const asked = { user, path, target, signal, verb: 'create' };
  const { decision, reason } = await authorizer.authorize(asked);
  if (decision !== 'allow') throw forbidden(target, target.name, forbiddenMessage(asked, reason));
}
