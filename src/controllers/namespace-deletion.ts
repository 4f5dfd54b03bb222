import { StatusError } from '../api/status.ts';
import type { Namespace } from '../api/types/core/v1.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import type { Registry } from '../registry/registry.ts';
import { observe } from '../storage/observe.ts';
import type { Entry, Store } from '../storage/store.ts';
import { keepDoing, pause } from '../util/pause.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { DELETE_NOW } from './delete-now.ts';
import type { ControllerIdentity } from './identity.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
/** The finalizer of every new namespace. It is removed after the namespace was emptied. */
const NAMESPACE_FINALIZER = 'kubernetes';
/** How often a namespace is checked in which finalizers keep objects. */
const RETRY_MS = 1000;

/**
 * Empties namespaces that are being deleted, then removes their finalizer, as the namespace controller of a controller manager
 * would, so that a cluster without one can delete namespaces. A controller manager and several servers may do so at the same
 * time: the later ones find nothing left to do.
 */
export class NamespaceDeletion {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #writer: ObjectWriter;
  readonly #identity: ControllerIdentity;
  readonly #onError: (error: unknown) => void;
  readonly #active = new Map<string, Promise<void>>();

  constructor(options: {
    store: Store;
    registry: Registry;
    writer: ObjectWriter;
    identity: ControllerIdentity;
    onError: (error: unknown) => void;
  }) {
    this.#store = options.store;
    this.#registry = options.registry;
    this.#writer = options.writer;
    this.#identity = options.identity;
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    await keepDoing(() => this.#follow(signal), signal, retry);
    await Promise.all(this.#active.values());
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of observe(this.#store, NAMESPACES, signal)) {
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
        const entry = await this.#store.get({ ...NAMESPACES, namespace: '', name }, { kind: 'latest' });
        if (entry === undefined || entry.uid !== uid) return;
        const remaining = await this.#empty(name, signal);
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
      remaining += await this.#emptyResource(definition, namespace);
    }
    return signal.aborted ? 1 : remaining;
  }

  async #emptyResource(definition: ResourceDefinition, namespace: string): Promise<number> {
    const query = { resource: definition, scope: { namespace }, limit: 0 };
    const { entries } = await this.#store.list({ ...query, freshness: { kind: 'any' } });
    await Promise.all(entries.map((entry) => this.#remove(definition, namespace, entry.name)));
    const left = await this.#store.list({ ...query, freshness: { kind: 'latest' } });
    return left.entries.length;
  }

  async #remove(definition: ResourceDefinition, namespace: string, name: string): Promise<void> {
    const context = this.#identity.context(definition, namespace);
    try {
      await this.#writer.remove(context, name, DELETE_NOW);
    } catch (error) {
      if (!(error instanceof StatusError) || error.status.reason !== 'NotFound') throw error;
    }
  }

  async #release(name: string): Promise<void> {
    const definition = this.#registry.findStorage(NAMESPACES);
    if (definition === undefined) return;
    const context = this.#identity.context(definition, '', 'finalize');
    await this.#writer.update(context, name, { apply: withoutFinalizer, validate: () => [] });
  }
}

function withoutFinalizer(namespace: Namespace): Namespace {
  const { spec } = namespace;
  const left = (spec?.finalizers ?? []).filter((finalizer) => finalizer !== NAMESPACE_FINALIZER);
  return { ...namespace, spec: left.length === 0 ? {} : { ...spec, finalizers: left } };
}
