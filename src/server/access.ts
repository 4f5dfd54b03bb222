import type { Access } from '../admission/plugin.ts';
import type { Authorizer } from '../authz/authorizer.ts';

/** Asks the authorizers of requests for the rights of users that send none. */
export const accessBy = (authorizer: Authorizer): Access => ({
  whyNot: async (user, { verb, namespace = '', name = '', subresource = '', ...resource }) => {
    const target = { ...resource, namespace, name, subresource, subpath: '' };
    const { decision, reason, error } = await authorizer.authorize({ user, verb, target, path: '' });
    return decision === 'allow' ? undefined : (error ?? reason);
  },
});
