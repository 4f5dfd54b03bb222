import type { Access, Refusals, Right } from '../admission/plugin.ts';
import { forbidden } from '../api/status.ts';
import { type AuthorizationAttributes, type Authorizer, forbiddenMessage } from '../authz/authorizer.ts';
import type { UserInfo } from '../request/api-request.ts';

/** Asks the authorizers of requests for the rights of users that send none. */
export const accessBy = (authorizer: Authorizer): Access & Refusals => {
  const why = async (attributes: AuthorizationAttributes): Promise<string | undefined> => {
    const { decision, reason, error } = await authorizer.authorize(attributes);
    return decision === 'allow' ? undefined : (error ?? reason);
  };
  return {
    whyNot: (user, right) => why(toAttributes(user, right)),
    refusal: async (user, right) => {
      const attributes = toAttributes(user, right);
      const reason = await why(attributes);
      if (reason === undefined) return undefined;
      return forbidden(right, right.name ?? '', forbiddenMessage(attributes, reason)).message;
    },
  };
};

function toAttributes(user: UserInfo, { verb, ...right }: Right): AuthorizationAttributes {
  const { namespace = '', name = '', subresource = '', ...resource } = right;
  return { user, verb, target: { ...resource, namespace, name, subresource, subpath: '' }, path: '' };
}
