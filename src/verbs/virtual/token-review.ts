import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { badRequest } from '../../api/status.ts';
import type { Authenticator } from '../../authn/authenticator.ts';
import { isObject } from '../../object/merge-patch.ts';
import type { UserInfo } from '../../request/api-request.ts';

export function toUserInfo({ username, uid, groups, extra }: UserInfo): JsonObject {
  return {
    username,
    ...(uid === '' ? {} : { uid }),
    groups: [...groups],
    ...(Object.keys(extra).length === 0
      ? {}
      : { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) }),
  };
}

/** A TokenReview: whose token it is, by the authenticators that requests pass. @throws StatusError 400 without a token */
export async function reviewToken(
  body: ApiObject,
  { authenticator, apiAudiences }: { authenticator: Authenticator; apiAudiences: readonly string[] },
): Promise<JsonObject> {
  const { token, audiences: given } = isObject(body.spec) ? body.spec : {};
  if (typeof token !== 'string' || token === '')
    throw badRequest('token is required for TokenReview in authentication');
  const asked = Array.isArray(given) ? given.filter((one) => typeof one === 'string') : [];
  const audiences = asked.length === 0 ? apiAudiences : asked;
  try {
    const headers = { authorization: `Bearer ${token}` };
    const credentials = { headers, raw: { headers: [] }, peerCertificate: undefined, audiences };
    const found = await authenticator.authenticate(credentials);
    if (found !== undefined) {
      const granted = found.audiences === undefined ? {} : { audiences: [...found.audiences] };
      return { ...body, status: { authenticated: true, user: toUserInfo(found.user), ...granted } };
    }
    return unknown(body, 'invalid bearer token');
  } catch (error) {
    // A token that is no good is an answer here, not a failure.
    return unknown(body, error instanceof Error ? error.message : String(error));
  }
}

const unknown = (body: ApiObject, error: string): JsonObject => ({ ...body, status: { user: {}, error } });
