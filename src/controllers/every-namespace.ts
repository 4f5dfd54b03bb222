import { NAMESPACES } from '../api/known-resources.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { Entry } from '../storage/store.ts';
import { Slots } from '../util/concurrency.ts';
import { keepDoing, pause } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';
import { orNamespaceGone } from '../verbs/writing/write-call.ts';

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
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;
  readonly #slots = new Slots(AT_ONCE);
  readonly #tasks = new Map<string, Task>();

  constructor(options: {
    object: NamespaceObject;
    /** The field manager of the writes. */
    manager: string;
    client: Client;
    onError: (error: unknown) => void;
  }) {
    const { object, manager, client, onError } = options;
    this.#object = object;
    this.#client = client.as(manager);
    this.#onError = onError;
  }

  /** Creates or corrects the object in one namespace now. @throws StatusError, StorageError */
  async ensure(namespace: string, fully = true): Promise<void> {
    if (!(await this.#isActive(namespace))) return;
    const { resource, create, mend } = this.#object;
    const object = create();
    const ensured = this.#client.ensure(
      resource,
      { ...object, metadata: { ...object.metadata, namespace } },
      { mend: (current) => mend(current, fully), trust: 'cached-if-found' },
    );
    await orNamespaceGone(ensured);
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    await Promise.all([
      keepDoing(() => this.#followNamespaces(signal), signal, retry),
      keepDoing(() => this.#followObjects(signal), signal, retry),
    ]);
  }

  async #followNamespaces(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of this.#client.watch(NAMESPACES, signal)) {
      if (type !== 'DELETED' && isActive(entry)) this.#begin(entry.name, type === 'ADDED', signal);
    }
  }

  async #followObjects(signal: AbortSignal): Promise<void> {
    const isIt = ({ name }: Entry): boolean => name === this.#object.name;
    for await (const { type, entry } of this.#client.watch(this.#object.resource, signal, isIt)) {
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
    const { resource, name } = this.#object;
    const current = await this.#client.get(resource, { namespace, name }, 'cached');
    if (current === undefined) await pause(Math.random() * SPREAD_MS, signal);
    if (!signal.aborted) await this.ensure(namespace, fully);
  }

  async #isActive(name: string): Promise<boolean> {
    const namespace = await this.#client.get(NAMESPACES, { name }, 'cached');
    return namespace?.status?.phase === 'Active';
  }
}

const isActive = ({ fields }: Entry): boolean => fields['status.phase'] === 'Active';
