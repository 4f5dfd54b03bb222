import type { GroupResource, ResourceOf } from '../api/names.ts';
import type { Namespace } from '../api/types/core/v1.ts';
import type { Registry } from '../registry/registry.ts';
import type { Entry } from '../storage/store.ts';
import { keepDoing } from '../util/keep-doing.ts';
import { pause } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';

const NAMESPACES: ResourceOf<Namespace> = { group: '', resource: 'namespaces' };
/** The finalizer every namespace is born with; whoever empties the namespace removes it. */
const NAMESPACE_FINALIZER = 'kubernetes';
/** How often a namespace that others still hold content in is looked at again. */
const RETRY_MS = 1000;

/**
 * Empties namespaces that are being deleted, then lets them go. It does what the namespace controller of a controller
 * manager does, so that a cluster without one can delete namespaces; with one attached, both do the same work and neither
 * harms the other. Every server runs it: whoever comes second finds nothing left to do.
 */
export class NamespaceDeletion {
  readonly #client: Client;
  readonly #registry: Registry;
  readonly #onError: (error: unknown) => void;
  readonly #active = new Map<string, Promise<void>>();

  constructor(options: { client: Client; registry: Registry; onError: (error: unknown) => void }) {
    this.#client = options.client.as('namespace-controller');
    this.#registry = options.registry;
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

  /** Goes round until the namespace is empty: objects with finalizers or grace periods take their time. */
  async #finish({ name, uid }: Entry, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const namespace = await this.#client.get(NAMESPACES, { name });
        if (namespace?.metadata.uid !== uid) return;
        const remaining = await this.#empty(name, signal);
        if (remaining === 0) return await this.#release(name);
      } catch (error) {
        this.#onError(error);
      }
      await pause(RETRY_MS, signal);
    }
  }

  /** Asks for the deletion of everything inside; answers how many objects are left after that. */
  async #empty(namespace: string, signal: AbortSignal): Promise<number> {
    let remaining = 0;
    for (const definition of this.#registry.storages()) {
      if (!definition.namespaced || !definition.verbs.includes('delete') || signal.aborted) continue;
      remaining += await this.#emptyResource(definition.storage, namespace);
    }
    return signal.aborted ? 1 : remaining;
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

function withoutFinalizer(namespace: Namespace): Namespace {
  const { spec } = namespace;
  const left = (spec?.finalizers ?? []).filter((finalizer) => finalizer !== NAMESPACE_FINALIZER);
  return { ...namespace, spec: left.length === 0 ? {} : { ...spec, finalizers: left } };
}
