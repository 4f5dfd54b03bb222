import type { AuthorizationAttributes } from './authorizer.ts';

/** The words of a 403 (Kubernetes: handlers/responsewriters): `User "u" cannot get resource "pods" in API group "" in the namespace "ns"`. */
export function forbiddenMessage(
  { user, verb, target, path }: AuthorizationAttributes,
  reason: string,
): string {
  const why = reason === '' ? '' : `: ${reason}`;
  const who = `User ${JSON.stringify(user.username)}`;
  if (target === undefined) return `${who} cannot ${verb} path ${JSON.stringify(path)}${why}`;
  const resource = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
  const what = `${who} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(target.group)}`;
  const where =
    target.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(target.namespace)}`;
  return `${what} ${where}${why}`;
}
