import type { Gates } from '../api/feature-gates.ts';
import { CONFIG_MAPS, NAMESPACES, PRIORITY_CLASSES } from '../api/known-resources.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { SYSTEM_PRIORITIES } from '../api/system-priorities.ts';
import type { ConfigMap, Namespace } from '../api/types/core/v1.ts';
import {
  bootstrapPolicy,
  HEIRS,
  type Reconciliation,
  reconcileBinding,
  reconcileRole,
  toHeir,
} from '../authz/rbac/bootstrap/bootstrap-policy.ts';
import { RBAC_GROUP } from '../authz/rbac/role-rules.ts';
import { toDay } from '../object/timestamps.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';

/** Objects that every cluster needs. Each is created once; existing ones are not changed. */

/** The namespaces of every cluster. kube-system and cluster-system are the names of two dialects, and both exist. */
export const SYSTEM_NAMESPACES = [
  'default',
  'kube-system',
  'cluster-system',
  'kube-public',
  'kube-node-lease',
];

/** Creates the missing system namespaces; existing ones are not changed. @throws StatusError, StorageError */
export async function bootstrapNamespaces(client: Client): Promise<void> {
  await Promise.all(SYSTEM_NAMESPACES.map((name) => client.ensure(NAMESPACES, toNamespace(name))));
}

/** Creates a namespace. An existing one is no error. @throws StatusError */
export async function createNamespace(client: Client, name: string): Promise<void> {
  await client.create(NAMESPACES, toNamespace(name));
}

const toNamespace = (name: string): Namespace => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name },
  spec: {},
  status: {},
});

/** The priority classes of the cluster's own parts. @throws StatusError, StorageError */
export async function bootstrapPriorities(client: Client): Promise<void> {
  await Promise.all(
    Object.entries(SYSTEM_PRIORITIES).map(([name, fields]) =>
      client.ensure(PRIORITY_CLASSES, {
        kind: 'PriorityClass',
        apiVersion: 'scheduling.k8s.io/v1',
        metadata: { name },
        ...fields,
        preemptionPolicy: 'PreemptLowerPriority',
      }),
    ),
  );
}

type Reconcile = (existing: ApiObject | undefined, expected: ApiObject) => Reconciliation;

/**
 * Creates the roles and bindings that every Kubernetes cluster has, and restores their default rights. All at once, so that the
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
  const author = client.as('rbac-bootstrap', AS_SERVER);
  const all = kinds.flatMap(([resource, objects, reconcile]) =>
    objects.map((expected) => ({ resource: { group: RBAC_GROUP, resource }, expected, reconcile })),
  );
  // Before the rest: the next step creates missing sources with default rights, which no heir shall copy.
  const heirs = all.filter(
    ({ expected: { metadata } }) => metadata.name !== undefined && metadata.name in HEIRS,
  );
  await Promise.all(heirs.map(({ resource, expected }) => beginHeir(author, resource, expected)));
  await Promise.all(
    all.map(({ resource, expected, reconcile }) => ensure(author, resource, expected, reconcile)),
  );
}

/** Creates a missing heir with the rights of the object that had them before. */
async function beginHeir(
  client: Client,
  resource: ResourceOf<ApiObject>,
  expected: ApiObject,
): Promise<void> {
  const { name = '' } = expected.metadata;
  const read = (one = ''): Promise<ApiObject | undefined> =>
    client.get(resource, { name: one }, 'cached-if-found');
  if ((await read(name)) !== undefined) return;
  const other = await read(HEIRS[name]);
  const heir = other === undefined ? undefined : toHeir(other, expected);
  if (heir !== undefined) await client.create(resource, heir);
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
  // Another server may have removed it already, and created a new one with another uid.
  if (isWrong) await client.remove(resource, { namespace, name }, { uid: found.metadata.uid ?? '' });
  await client.ensure(resource, expected, {
    mend: (current) => {
      const reconciliation = reconcile(current, expected);
      return reconciliation.kind === 'update' ? structuredClone(reconciliation.object) : undefined;
    },
    trust: isWrong ? 'latest' : 'cached-if-found',
  });
}

export const TRACKING_NAMESPACE = 'kube-system';
export const TRACKING_NAME = 'kube-apiserver-legacy-service-account-token-tracking';

/**
 * Records the day from which the use of service account tokens in secrets is tracked. A controller manager deletes tokens that
 * were not used for a year, and must know since when their use is known.
 * @throws StatusError, StorageError
 */
export async function noteTokenTracking(client: Client, now: Date): Promise<void> {
  const since = toDay(now.getTime());
  const begin = (map: ConfigMap): ConfigMap => ({ ...map, data: { ...map.data, since } });
  const metadata = { name: TRACKING_NAME, namespace: TRACKING_NAMESPACE };
  await client.ensure(CONFIG_MAPS, begin({ kind: 'ConfigMap', apiVersion: 'v1', metadata }), {
    mend: (found) => (isDate(found) ? undefined : begin(found)),
  });
}

const isDate = ({ data }: ConfigMap): boolean => /^\d{4}-\d{2}-\d{2}$/.test(data?.since ?? '');
