import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import { StatusError } from '../api/status.ts';
import { parseStored } from '../codec/stored-object.ts';
import type { Registry } from '../registry/registry.ts';
import { observe } from '../storage/observe.ts';
import { toResourceVersion } from '../storage/revision.ts';
import type { Entry, Freshness, Store } from '../storage/store.ts';
import { Slots } from '../util/concurrency.ts';
import { keepDoing, pause } from '../util/pause.ts';
import type { WriteContext } from '../verbs/writing/change.ts';
import type { ObjectWriter } from '../verbs/writing/writer.ts';
import { ControllerIdentity } from './identity.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };
const RETRY_MS = 1000;
const MAX_RETRY_MS = 300_000;
/** Namespaces that are checked at once: a cluster may have thousands that lack the object. */
const AT_ONCE = 16;
/** All servers see a new namespace at the same moment. Each waits for a random time, so that most find the object created. */
const SPREAD_MS = 20;

/** An object that every namespace has. */
export interface NamespaceObject<T extends ApiObject = ApiObject> {
  readonly resource: ResourceOf<T>;
  readonly name: string;
  create(): T;
  /** The corrected object; undefined: `current` may stay. `fully`: also replaces an object that is only outdated. */
  mend(current: T, fully: boolean): T | undefined;
}

/** The work for one namespace. Work that becomes due while it runs makes it run once more. */
interface Task {
  due: boolean;
  fully: boolean;
}

/**
 * Gives every active namespace an object, as a controller manager would, so that a cluster without one is complete. All servers
 * and a controller manager may do so at the same time: the later ones find the object there.
 */
export class EveryNamespace {
  readonly #object: NamespaceObject;
  readonly #store: Store;
  readonly #writer: ObjectWriter;
  readonly #onError: (error: unknown) => void;
  readonly #context: (namespace: string) => WriteContext;
  readonly #slots = new Slots(AT_ONCE);
  readonly #tasks = new Map<string, Task>();

  constructor(options: {
    object: NamespaceObject;
    /** The field manager of the writes. */
    manager: string;
    store: Store;
    registry: Registry;
    writer: ObjectWriter;
    onError: (error: unknown) => void;
  }) {
    const { object, store, registry, writer, onError } = options;
    const definition = registry.findStorage(object.resource);
    if (definition === undefined) throw new Error(`the registry has no ${object.resource.resource}`);
    const identity = new ControllerIdentity(options.manager);
    this.#object = object;
    this.#store = store;
    this.#writer = writer;
    this.#onError = onError;
    this.#context = (namespace) => ({ ...identity.context(definition, namespace), ownership: 'track' });
  }

  /** Creates or corrects the object in one namespace now. @throws StatusError, StorageError */
  async ensure(namespace: string, fully = true): Promise<void> {
    if (!(await this.#isActive(namespace))) return;
    const current = await this.#read(namespace);
    if (current !== undefined) return this.#mend(current, fully);
    try {
      await this.#writer.create(this.#context(namespace), this.#object.create());
    } catch (error) {
      if (!isSettled(error)) throw error;
      // The writer that came first may have made a wrong object. No later event would cause another check, so it is checked now.
      const theirs = await this.#read(namespace, { kind: 'latest' });
      if (theirs !== undefined) await this.#mend(theirs, fully);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    await Promise.all([
      keepDoing(() => this.#followNamespaces(signal), signal, retry),
      keepDoing(() => this.#followObjects(signal), signal, retry),
    ]);
  }

  async #followNamespaces(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of observe(this.#store, NAMESPACES, signal)) {
      if (type !== 'DELETED' && isActive(entry)) this.#begin(entry.name, type === 'ADDED', signal);
    }
  }

  async #followObjects(signal: AbortSignal): Promise<void> {
    const isIt = ({ name }: Entry): boolean => name === this.#object.name;
    for await (const { type, entry } of observe(this.#store, this.#object.resource, signal, isIt)) {
      if (type !== 'ADDED') this.#begin(entry.namespace, false, signal);
    }
  }

  #begin(namespace: string, fully: boolean, signal: AbortSignal): void {
    const task = this.#tasks.get(namespace);
    if (task !== undefined) {
      task.due = true;
      task.fully ||= fully;
      return;
    }
    const begun = { due: true, fully };
    this.#tasks.set(namespace, begun);
    void this.#untilDone(namespace, begun, signal).finally(() => this.#tasks.delete(namespace));
  }

  /** Repeats a refused write at growing intervals, because a quota may have room by then. */
  async #untilDone(namespace: string, task: Task, signal: AbortSignal): Promise<void> {
    let retryMs = RETRY_MS;
    while (task.due && !signal.aborted) {
      task.due = false;
      try {
        await this.#slots.run(() => this.#look(namespace, task.fully, signal));
      } catch (error) {
        if (signal.aborted) return;
        task.due = true;
        this.#onError(error);
        await pause(retryMs, signal);
        retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
      }
    }
  }

  async #look(namespace: string, fully: boolean, signal: AbortSignal): Promise<void> {
    if (!(await this.#isActive(namespace))) return;
    if ((await this.#read(namespace)) === undefined) await pause(Math.random() * SPREAD_MS, signal);
    if (!signal.aborted) await this.ensure(namespace, fully);
  }

  async #mend(current: ApiObject, fully: boolean): Promise<void> {
    if (this.#object.mend(current, fully) === undefined) return;
    const context = this.#context(current.metadata.namespace ?? '');
    try {
      await this.#writer.update(context, this.#object.name, {
        apply: (copy) => this.#object.mend(copy, fully) ?? copy,
      });
    } catch (error) {
      if (!isSettled(error)) throw error;
    }
  }

  async #isActive(name: string): Promise<boolean> {
    const entry = await this.#store.get({ ...NAMESPACES, namespace: '', name }, { kind: 'any' });
    return entry !== undefined && isActive(entry);
  }

  async #read(namespace: string, freshness: Freshness = { kind: 'any' }): Promise<ApiObject | undefined> {
    const { resource, name } = this.#object;
    const entry = await this.#store.get({ ...resource, namespace, name }, freshness);
    return entry === undefined ? undefined : parseStored(entry.json, toResourceVersion(entry.revision));
  }
}

const isActive = ({ fields }: Entry): boolean => fields['status.phase'] === 'Active';

/** Whether another writer has created the object, or the namespace is being deleted. */
function isSettled(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false;
  const { reason, details } = error.status;
  const isEnding = details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;
  return reason === 'AlreadyExists' || reason === 'NotFound' || isEnding;
}
