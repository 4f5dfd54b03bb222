import type { GroupResource } from '../../api/names.ts';
import { forbidden, notFound, StatusError } from '../../api/status.ts';
import type { Entry, Store } from '../../storage/store.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';

const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };

/** Namespaces that the cluster itself needs; they cannot be deleted. */
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'cluster-system', 'kube-public']);

/**
 * Nothing is written into a namespace that does not exist, nothing new into one that is being deleted, and the cluster's own
 * namespaces stay (Kubernetes: plugin/namespace/lifecycle).
 */
export function createNamespaceLifecycle(store: Store): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    // Before anything else is looked for in the namespace.
    mutate: (attributes) => check(store, attributes),
    validate: (attributes) => {
      if (attributes.operation === 'DELETE') refuseImmortal(attributes);
    },
  };
}

async function check(store: Store, attributes: AdmissionAttributes): Promise<void> {
  const { definition, operation, namespace } = attributes;
  if (operation === 'DELETE' || !definition.namespaced || definition.resource === 'localsubjectaccessreviews')
    return;
  const entry = await findNamespace(store, namespace);
  if (entry === undefined) throw notFound(NAMESPACES, namespace);
  if (operation === 'CREATE' && entry.fields['status.phase'] === 'Terminating') throw terminating(attributes);
}

/** The cache may be a moment behind a namespace that was just created, so only a fresh read says that there is none. */
async function findNamespace(store: Store, name: string): Promise<Entry | undefined> {
  const key = { ...NAMESPACES, namespace: '', name };
  return (await store.get(key, { kind: 'any' })) ?? (await store.get(key, { kind: 'latest' }));
}

function refuseImmortal({ definition, name }: AdmissionAttributes): void {
  if (definition.group !== '' || definition.resource !== 'namespaces' || !IMMORTAL.has(name)) return;
  throw forbidden(definition, name, 'this namespace may not be deleted');
}

function terminating({ definition, namespace, name }: AdmissionAttributes): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const { status } = forbidden(definition, name, why);
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new StatusError({
    code: status.code,
    reason: 'Forbidden',
    message: status.message ?? '',
    details: { ...status.details, causes: [cause] },
  });
}

export const namespaceLifecycle = describePlugin({
  name: 'NamespaceLifecycle',
  isDefault: true,
  create: ({ store }: { readonly store: Store }) => createNamespaceLifecycle(store),
});
