import { X509Certificate } from 'node:crypto';
import type { GroupResource, ResourceOf } from '../api/names.ts';
import type { ConfigMap, Namespace, ServiceAccount } from '../api/types/core/v1.ts';
import { type Finding, withCondition } from '../object/conditions.ts';
import { objectAt } from '../object/json-values.ts';
import type { Registry } from '../registry/registry.ts';
import type { RemoteContents } from '../registry/remote-apis.ts';
import type { Entry } from '../storage/store.ts';
import { keepDoing, pause } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';
import { toTimestamp } from '../verbs/writing/object-metadata.ts';
import type { NamespaceObject } from './every-namespace.ts';

const NAMESPACES: ResourceOf<Namespace> = { group: '', resource: 'namespaces' };
/** The finalizer of every new namespace. It is removed after the namespace was emptied. */
const NAMESPACE_FINALIZER = 'kubernetes';
/** How often a namespace is checked in which finalizers keep objects. */
const RETRY_MS = 1000;

interface NamespaceDeletionOptions {
  readonly client: Client;
  readonly registry: Registry;
  /** Contents of namespaces on other servers; absent: none. */
  readonly elsewhere?: RemoteContents;
  readonly now?: () => Date;
  readonly onError: (error: unknown) => void;
}

const NOTHING_ELSEWHERE: RemoteContents = { empty: async () => ({ left: 0, unknown: [] }) };

/**
 * Empties namespaces that are being deleted, then removes their finalizer, as the namespace controller of a controller manager
 * would, so that a cluster without one can delete namespaces. A controller manager and several servers may do so at the same
 * time: the later ones find nothing left to do.
 */
export class NamespaceDeletion {
  readonly #client: Client;
  readonly #registry: Registry;
  readonly #elsewhere: RemoteContents;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  readonly #active = new Map<string, Promise<void>>();

  constructor(options: NamespaceDeletionOptions) {
    this.#client = options.client.as('namespace-controller');
    this.#registry = options.registry;
    this.#elsewhere = options.elsewhere ?? NOTHING_ELSEWHERE;
    this.#now = options.now ?? (() => new Date());
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    await keepDoing(() => this.#follow(signal), signal, retry);
    await Promise.all(this.#active.values());
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of this.#client.watch(NAMESPACES, signal)) {
      if (type !== 'DELETED' && entry.fields['status.phase'] === 'Terminating') this.#begin(entry, signal);
    }
  }

  #begin(namespace: Entry, signal: AbortSignal): void {
    if (this.#active.has(namespace.uid)) return;
    const work = this.#finish(namespace, signal).finally(() => this.#active.delete(namespace.uid));
    this.#active.set(namespace.uid, work);
  }

  /** Repeats until the namespace is empty, because finalizers and grace periods keep objects for a while. */
  async #finish({ name, uid }: Entry, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const namespace = await this.#client.get(NAMESPACES, { name });
        if (namespace?.metadata.uid !== uid) return;
        const remaining = (await this.#empty(name, signal)) + (await this.#emptyElsewhere(namespace, signal));
        if (remaining === 0) return await this.#release(name);
      } catch (error) {
        this.#onError(error);
      }
      await pause(RETRY_MS, signal);
    }
  }

  /** Deletes all objects in the namespace. Returns how many are left afterwards. */
  async #empty(namespace: string, signal: AbortSignal): Promise<number> {
    let remaining = 0;
    for (const definition of this.#registry.storages()) {
      if (!definition.namespaced || !definition.verbs.includes('delete') || signal.aborted) continue;
      remaining += await this.#emptyResource(definition.storage, namespace);
    }
    return signal.aborted ? 1 : remaining;
  }

  /** Empties the namespace on other servers. Keeps it while their contents are unknown. */
  async #emptyElsewhere(namespace: Namespace, signal: AbortSignal): Promise<number> {
    const { name = '' } = namespace.metadata;
    const { left, unknown } = await this.#elsewhere.empty(name, signal);
    const says = (copy: Namespace): Namespace => withDiscovery(copy, unknown, toTimestamp(this.#now()));
    if (says(namespace) !== namespace)
      await this.#client.updateState(NAMESPACES, { name, subresource: 'status' }, says);
    return left + unknown.length;
  }

  async #emptyResource(resource: GroupResource, namespace: string): Promise<number> {
    const entries = await this.#client.entries(resource, { namespace }, 'cached');
    await Promise.all(entries.map(({ name }) => this.#client.remove(resource, { namespace, name })));
    return (await this.#client.entries(resource, { namespace })).length;
  }

  async #release(name: string): Promise<void> {
    await this.#client.updateState(NAMESPACES, { name, subresource: 'finalize' }, withoutFinalizer);
  }
}

const DISCOVERY_FAILURE = 'NamespaceDeletionDiscoveryFailure';

/** Uses Kubernetes' words. Returns the same object if it has the condition already, or if nothing ever failed. */
function withDiscovery(namespace: Namespace, unknown: readonly string[], time: string): Namespace {
  const before = namespace.status?.conditions ?? [];
  const failed = unknown.length > 0;
  if (!failed && !before.some(({ type }) => type === DISCOVERY_FAILURE)) return namespace;
  const why = `unable to retrieve the complete list of server APIs: ${unknown.join(', ')}`;
  const found: Finding = failed
    ? {
        ...{ type: DISCOVERY_FAILURE, status: 'True', reason: 'DiscoveryFailed' },
        message: `Discovery failed for some groups, ${unknown.length} failing: ${why}`,
      }
    : {
        ...{ type: DISCOVERY_FAILURE, status: 'False', reason: 'ResourcesDiscovered' },
        message: 'All resources successfully discovered',
      };
  const conditions = withCondition(before, found, time);
  return conditions === before
    ? namespace
    : { ...namespace, status: { ...namespace.status, conditions: [...conditions] } };
}

function withoutFinalizer(namespace: Namespace): Namespace {
  const { spec } = namespace;
  const left = (spec?.finalizers ?? []).filter((finalizer) => finalizer !== NAMESPACE_FINALIZER);
  return { ...namespace, spec: left.length === 0 ? {} : { ...spec, finalizers: left } };
}

/**
 * The objects that a controller manager gives every namespace, without which no pod can run in it (Kubernetes:
 * pkg/controller/serviceaccount and pkg/controller/certificates/rootcacertpublisher).
 */

/** The account of pods that name none. */
export const DEFAULT_ACCOUNT: NamespaceObject<ServiceAccount> = {
  resource: { group: '', resource: 'serviceaccounts' },
  name: 'default',
  create: () => ({ kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default' } }),
  mend: () => undefined,
};

export const CA_MANAGER = 'root-ca-certificate-publisher';
const CA_NAME = 'kube-root-ca.crt';
const CA_KEY = 'ca.crt';
const CA_ANNOTATIONS = {
  'kubernetes.io/description':
    'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.',
};

/**
 * The certificate by which pods verify this server. A certificate from a controller manager stays, so that both never overwrite
 * each other: only a value that is no certificate is replaced at once, and an older one of this server at the next start.
 */
export function rootCertificate(certificate: string): NamespaceObject<ConfigMap> {
  const data = { [CA_KEY]: certificate };
  return {
    resource: { group: '', resource: 'configmaps' },
    name: CA_NAME,
    create: () => ({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: CA_NAME, annotations: { ...CA_ANNOTATIONS } },
      data: { ...data },
    }),
    mend: (current, fully) => {
      const published = current.data?.[CA_KEY];
      if (published === certificate) return undefined;
      if (isCertificate(published) && !(fully && isOurs(current))) return undefined;
      const annotations = { ...CA_ANNOTATIONS, ...current.metadata.annotations };
      return { ...current, metadata: { ...current.metadata, annotations }, data: { ...data } };
    },
  };
}

function isCertificate(text: string | undefined): boolean {
  if (text === undefined) return false;
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}

/** Whether a server of this cluster wrote the existing certificate. */
function isOurs({ metadata: { managedFields = [] } }: ConfigMap): boolean {
  const owners = managedFields.filter(
    ({ fieldsV1 }) => objectAt(fieldsV1, 'f:data')[`f:${CA_KEY}`] !== undefined,
  );
  return owners.length > 0 && owners.every(({ manager }) => manager === CA_MANAGER);
}
