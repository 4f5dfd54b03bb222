import { X509Certificate } from 'node:crypto';
import { NAMESPACES } from '../api/known-resources.ts';
import type { GroupResource } from '../api/names.ts';
import { StatusError } from '../api/status.ts';
import type { ConfigMap, Namespace, ServiceAccount } from '../api/types/core/v1.ts';
import { objectAt } from '../object/json-values.ts';
import { toTimestamp } from '../object/timestamps.ts';
import type { Registry } from '../registry/registry.ts';
import type { RemoteContents } from '../registry/remote-apis.ts';
import type { Entry } from '../storage/store.ts';
import { errorText } from '../util/error-text.ts';
import { keepDoing, pause } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';
import type { NamespaceObject } from './every-namespace.ts';
import { type Leftovers, withLeftovers } from './namespace-conditions.ts';

/** The finalizer of every new namespace. It is removed after the namespace was emptied. */
const NAMESPACE_FINALIZER = 'kubernetes';
/** How often a namespace is checked in which finalizers keep objects. */
const RETRY_MS = 1000;

interface NamespaceDeletionOptions {
  readonly client: Client;
  readonly registry: Registry;
  /** Contents of namespaces on other servers; absent: none. */
  readonly elsewhere?: RemoteContents;
  /** The feature OrderedNamespaceDeletion: nothing that pods may need goes before the last pod. */
  readonly podsFirst?: boolean;
  readonly now?: () => Date;
  readonly onError: (error: unknown) => void;
}

const PODS: GroupResource = { group: '', resource: 'pods' };
/** Stands for resources of other servers, which say only how many objects are left. */
const ELSEWHERE = 'resources of other servers';

/** Leftovers, while they are looked for. */
interface Found extends Leftovers {
  readonly resources: Map<string, number>;
  readonly finalizers: Map<string, number>;
  readonly failures: string[];
}

const isNothing = ({ resources, failures, unknown }: Leftovers): boolean =>
  resources.size === 0 && failures.length === 0 && unknown.length === 0;

const add = (counts: Map<string, number>, name: string): void => {
  counts.set(name, (counts.get(name) ?? 0) + 1);
};

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
  readonly #podsFirst: boolean;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  readonly #active = new Map<string, Promise<void>>();

  constructor(options: NamespaceDeletionOptions) {
    this.#client = options.client.as('namespace-controller');
    this.#registry = options.registry;
    this.#elsewhere = options.elsewhere ?? NOTHING_ELSEWHERE;
    this.#podsFirst = options.podsFirst ?? false;
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
        const leftovers = await this.#empty(name, signal);
        await this.#tell(namespace, leftovers);
        if (!signal.aborted && isNothing(leftovers)) return await this.#release(name);
      } catch (error) {
        this.#onError(error);
      }
      await pause(RETRY_MS, signal);
    }
  }

  /** Deletes all objects in the namespace, here and on other servers, and finds what is left afterwards. */
  async #empty(namespace: string, signal: AbortSignal): Promise<Leftovers> {
    const left: Found = { resources: new Map(), finalizers: new Map(), failures: [], unknown: [] };
    if (this.#podsFirst) {
      await this.#emptyResource(PODS, namespace, left);
      if (!isNothing(left)) return left;
    }
    for (const { namespaced, verbs, storage } of this.#registry.storages())
      if (namespaced && verbs.includes('delete') && !signal.aborted)
        await this.#emptyResource(storage, namespace, left);
    const { left: others, unknown } = await this.#elsewhere.empty(namespace, signal);
    if (others > 0) left.resources.set(ELSEWHERE, others);
    return { ...left, unknown };
  }

  async #emptyResource(resource: GroupResource, namespace: string, left: Found): Promise<void> {
    const entries = await this.#client.entries(resource, { namespace }, 'cached');
    const outcomes = await Promise.allSettled(
      entries.map(({ name }) => this.#client.remove(resource, { namespace, name })),
    );
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    const failure = errors.find((error) => !(error instanceof StatusError)) ?? errors[0];
    if (failure !== undefined && !(failure instanceof StatusError)) throw failure;
    if (failure !== undefined) left.failures.push(errorText(failure));
    let count = 0;
    for await (const { metadata } of this.#client.each(resource, { namespace })) {
      count += 1;
      for (const finalizer of metadata.finalizers ?? []) add(left.finalizers, finalizer);
    }
    if (count > 0) left.resources.set(`${resource.resource}.${resource.group}`, count);
  }

  async #tell(namespace: Namespace, leftovers: Leftovers): Promise<void> {
    const { name = '' } = namespace.metadata;
    const says = (copy: Namespace): Namespace => withLeftovers(copy, leftovers, toTimestamp(this.#now()));
    if (says(namespace) !== namespace)
      await this.#client.updateState(NAMESPACES, { name, subresource: 'status' }, says);
  }

  async #release(name: string): Promise<void> {
    await this.#client.updateState(NAMESPACES, { name, subresource: 'finalize' }, withoutFinalizer);
  }
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
