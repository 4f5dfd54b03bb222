import { NAMESPACES } from '../../api/known-resources.ts';
import { forbidden, notFound, StatusError } from '../../api/status.ts';
import type { Namespace } from '../../api/types/core/v1.ts';
import { ObjectReader } from '../../storage/object-reader.ts';
import type { Store } from '../../storage/store.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, type PluginParts, refusal } from '../plugin.ts';

/** Namespaces that the cluster itself needs; they cannot be deleted. */
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'cluster-system', 'kube-public']);

/** After this time every cache has seen a deletion. Kubernetes: forceLiveLookupTTL, and as many names. */
const DELETED_RECENTLY_MS = 30_000;
const MAX_DELETED_RECENTLY = 100;

/**
 * Refuses writes into a namespace that does not exist, creates in one that is being deleted, and the deletion of the cluster's
 * own namespaces (Kubernetes: plugin/namespace/lifecycle). `now` in milliseconds.
 */
export function createNamespaceLifecycle(
  objects: Pick<ObjectReader, 'entry'>,
  now: () => number = Date.now,
): AdmissionPlugin {
  const deleted = new RecentlyDeleted(now);
  return {
    name: 'NamespaceLifecycle',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    // As a mutating plugin, it runs before other plugins look for objects in the namespace.
    mutate: (attributes) => check(objects, deleted, attributes),
    validate: (attributes) => {
      if (attributes.operation !== 'DELETE' || !isOfNamespaces(attributes)) return;
      refuseImmortal(attributes);
      deleted.add(attributes.name);
    },
  };
}

/** Namespaces that were deleted through this server recently, of which the cache may still have the old state. */
class RecentlyDeleted {
  readonly #now: () => number;
  /** The time of each deletion, the oldest first. */
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
  if (operation === 'DELETE' || !definition.namespaced || definition.isReview === true) return;
  const key = { ...NAMESPACES, namespace: '', name: namespace };
  const entry = await objects.entry(key, deleted.has(namespace) ? 'latest' : 'cached-if-found');
  const isForeseen = attributes.foreseen?.find(NAMESPACES, '', namespace) !== undefined;
  if (entry === undefined && isForeseen) return;
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

/** Refuses writes and deletes in a namespace that does not exist (Kubernetes: plugin/pkg/admission/namespace/exists). */
function createNamespaceExists(objects: ClusterObjects): AdmissionPlugin {
  const namespaces = new ObjectLookup(objects, NAMESPACES);
  return {
    name: 'NamespaceExists',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    validate: ({ namespace, foreseen }) => {
      const mustBeThere = (found: Namespace | undefined): void => {
        if (found === undefined) throw notFound(NAMESPACES, namespace);
      };
      return namespace === '' ? undefined : namespaces.with('', namespace, mustBeThere, foreseen);
    },
  };
}

export const namespaceExists = describePlugin({
  name: 'NamespaceExists',
  isDefault: false,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createNamespaceExists(objects),
});

/** An existing namespace is a success. @throws StatusError */
export type CreateNamespace = (name: string) => Promise<void>;

/** It may be created a moment later: that is no refusal. */
const DATABASE_AWAY: ReadonlySet<number> = new Set([429, 503, 504]);

/** Creates the namespace of a new object (Kubernetes: plugin/pkg/admission/namespace/autoprovision). */
function createAutoProvision(objects: ClusterObjects, create: CreateNamespace): AdmissionPlugin {
  const namespaces = objects.follow({ group: '', resource: 'namespaces' });
  return {
    name: 'NamespaceAutoProvision',
    operations: ['CREATE'],
    mutate: (attributes) => {
      const { namespace, dryRun } = attributes;
      if (dryRun || namespace === '' || namespaces.get('', namespace) !== undefined) return undefined;
      return create(namespace).catch((error: unknown) => {
        if (!(error instanceof StatusError) || error.status.reason === 'Forbidden') throw error;
        if (DATABASE_AWAY.has(error.status.code)) throw error;
        throw refusal(attributes, error.message);
      });
    },
  };
}

export const namespaceAutoProvision = describePlugin({
  name: 'NamespaceAutoProvision',
  isDefault: false,
  create: ({
    objects,
    createNamespace,
  }: Pick<PluginParts, 'objects'> & { readonly createNamespace: CreateNamespace }) =>
    createAutoProvision(objects, createNamespace),
});
