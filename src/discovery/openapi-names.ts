/** Names of groups in the identifiers of documents, as Kubernetes makes them: generated clients have functions by these names. */

/** `rbac.authorization.k8s.io` → `RbacAuthorization`, as part of operation ids. */
export const stemOf = (group: string): string => capitalized(tagOf(group));

/** `rbac.authorization.k8s.io` → `rbacAuthorization`. A capital takes the place of other characters than letters, digits and underscores. */
export const tagOf = (group: string): string =>
  (group === '' ? 'core' : group.replace(/\.(k8s|cluster)\.io$/, ''))
    .split(/[^\w]+/)
    .map((part, at) => (at === 0 ? part : capitalized(part)))
    .join('');

export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
