import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { bootstrapPolicy, type Gates } from '../authz/rbac/bootstrap/policy.ts';
import { type Reconciliation, reconcileBinding, reconcileRole } from '../authz/rbac/bootstrap/reconcile.ts';
import { RBAC_GROUP } from '../authz/rbac/policy.ts';
import type { Client } from '../verbs/client/client.ts';

type Reconcile = (existing: ApiObject | undefined, expected: ApiObject) => Reconciliation;

/**
 * Gives the cluster the roles and bindings every Kubernetes cluster has, and gives back what they lack. All at once: the
 * writes share a few batches. @throws StatusError, StorageError
 */
export async function bootstrapRoles(client: Client, isOn: Gates): Promise<void> {
  const policy = bootstrapPolicy(isOn);
  const kinds: [string, readonly ApiObject[], Reconcile][] = [
    ['clusterroles', policy.clusterRoles, reconcileRole],
    ['clusterrolebindings', policy.clusterRoleBindings, reconcileBinding],
    ['roles', policy.roles, reconcileRole],
    ['rolebindings', policy.roleBindings, reconcileBinding],
  ];
  const author = client.as('rbac-bootstrap');
  await Promise.all(
    kinds.flatMap(([resource, objects, reconcile]) =>
      objects.map((expected) => ensure(author, { group: RBAC_GROUP, resource }, expected, reconcile)),
    ),
  );
}

async function ensure(
  client: Client,
  resource: ResourceOf<ApiObject>,
  expected: ApiObject,
  reconcile: Reconcile,
): Promise<void> {
  const { name = '', namespace = '' } = expected.metadata;
  const found = await client.get(resource, { namespace, name }, 'cached-if-found');
  const isWrong = found !== undefined && reconcile(found, expected).kind === 'recreate';
  // Another server may have removed it already, and made it anew: then its uid is another.
  if (isWrong) await client.remove(resource, { namespace, name }, { uid: found.metadata.uid ?? '' });
  await client.ensure(resource, expected, {
    mend: (current) => {
      const reconciliation = reconcile(current, expected);
      return reconciliation.kind === 'update' ? structuredClone(reconciliation.object) : undefined;
    },
    trust: isWrong ? 'latest' : 'cached-if-found',
  });
}
