import { unauthorized } from '../api/status.ts';
import { ANONYMOUS, type Authenticator } from '../authn/authenticator.ts';
import { type ApiRequest, type AuthenticatedRequest, markAuthenticated } from '../request/api-request.ts';

/** Who is calling. @throws StatusError 401 */
export async function authenticate(
  { authenticator, anonymous }: { readonly authenticator: Authenticator; readonly anonymous: boolean },
  request: ApiRequest,
): Promise<AuthenticatedRequest> {
  const user = await authenticator.authenticate(request);
  if (user !== undefined) return markAuthenticated(request, user);
  if (!anonymous) throw unauthorized();
  return markAuthenticated(request, ANONYMOUS);
}
