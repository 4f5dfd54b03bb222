import type { GroupResource } from '../../api/names.ts';
import { forbidden, notFound, StatusError } from '../../api/status.ts';
import { ObjectReader } from '../../storage/object-reader.ts';
import type { Store } from '../../storage/store.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';

const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };

/** Namespaces that the cluster itself needs; they cannot be deleted. */
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'cluster-system', 'kube-public']);

/** Until then every cache has heard of a deletion. Kubernetes: forceLiveLookupTTL, and as many names. */
const DELETED_RECENTLY_MS = 30_000;
const MAX_DELETED_RECENTLY = 100;

/**
 * Nothing is written into a namespace that does not exist, nothing new into one that is being deleted, and the cluster's own
 * namespaces stay (Kubernetes: plugin/namespace/lifecycle). `now` in milliseconds.
 */
export function createNamespaceLifecycle(
  objects: Pick<ObjectReader, 'entry'>,
  now: () => number = Date.now,
): AdmissionPlugin {
  const deleted = new RecentlyDeleted(now);
  return {
    name: 'NamespaceLifecycle',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    // Before anything else is looked for in the namespace.
    mutate: (attributes) => check(objects, deleted, attributes),
    validate: (attributes) => {
      if (attributes.operation !== 'DELETE' || !isOfNamespaces(attributes)) return;
      refuseImmortal(attributes);
      deleted.add(attributes.name);
    },
  };
}

/** Namespaces that were deleted through this server a moment ago: the cache may still have them as they were. */
class RecentlyDeleted {
  readonly #now: () => number;
  /** When each was deleted last, the oldest first. */
  readonly #times = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(name: string): void {
    this.#times.delete(name);
    this.#times.set(name, this.#now());
    const [oldest] = this.#times.keys();
    if (this.#times.size > MAX_DELETED_RECENTLY && oldest !== undefined) this.#times.delete(oldest);
  }

  has(name: string): boolean {
    const atMs = this.#times.get(name);
    return atMs !== undefined && this.#now() - atMs < DELETED_RECENTLY_MS;
  }
}

async function check(
  objects: Pick<ObjectReader, 'entry'>,
  deleted: RecentlyDeleted,
  attributes: AdmissionAttributes,
): Promise<void> {
  const { definition, operation, namespace } = attributes;
  if (operation === 'DELETE' || !definition.namespaced || definition.resource === 'localsubjectaccessreviews')
    return;
  const key = { ...NAMESPACES, namespace: '', name: namespace };
  const entry = await objects.entry(key, deleted.has(namespace) ? 'latest' : 'cached-if-found');
  if (entry === undefined) throw notFound(NAMESPACES, namespace);
  if (operation === 'CREATE' && entry.fields['status.phase'] === 'Terminating') throw terminating(attributes);
}

const isOfNamespaces = ({ definition }: AdmissionAttributes): boolean =>
  definition.group === '' && definition.resource === 'namespaces';

function refuseImmortal({ definition, name }: AdmissionAttributes): void {
  if (IMMORTAL.has(name)) throw forbidden(definition, name, 'this namespace may not be deleted');
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
  create: ({ store }: { readonly store: Store }) => createNamespaceLifecycle(new ObjectReader(store)),
});
