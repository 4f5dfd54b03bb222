import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { Namespace } from '../api/types/core/v1.ts';
import type { Entry } from '../storage/store.ts';
import { keepDoing } from '../util/keep-doing.ts';
import { pause } from '../util/pause.ts';
import { Slots } from '../util/slots.ts';
import type { Client } from '../verbs/client/client.ts';
import { orNamespaceGone } from '../verbs/writing/outcome.ts';

const NAMESPACES: ResourceOf<Namespace> = { group: '', resource: 'namespaces' };
const RETRY_MS = 1000;
const MAX_RETRY_MS = 300_000;
/** How many namespaces are looked at at once: a cluster may come with thousands that lack the object. */
const AT_ONCE = 16;
/** Servers see a new namespace at the same moment. They look after a short time each of its own, and most find it done. */
const SPREAD_MS = 20;

/** What every namespace has. */
export interface NamespaceObject<T extends ApiObject = ApiObject> {
  readonly resource: ResourceOf<T>;
  readonly name: string;
  create(): T;
  /** What it should be instead; undefined: it may stay. `fully`: also where it only has become old. */
  mend(current: T, fully: boolean): T | undefined;
}

/** Of one namespace. What becomes due while it is being done is done once more. */
interface Task {
  due: boolean;
  fully: boolean;
}

/**
 * Sees to it that every active namespace has an object, as controllers of a controller manager do, so that a cluster without
 * one is complete. All servers do so, and a controller manager may as well: whoever comes second finds it there.
 */
export class EveryNamespace {
  readonly #object: NamespaceObject;
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;
  readonly #slots = new Slots(AT_ONCE);
  readonly #tasks = new Map<string, Task>();

  constructor(options: {
    object: NamespaceObject;
    /** The author, as managed fields name it. */
    manager: string;
    client: Client;
    onError: (error: unknown) => void;
  }) {
    const { object, manager, client, onError } = options;
    this.#object = object;
    this.#client = client.as(manager, 'track');
    this.#onError = onError;
  }

  /** Of one namespace, at once. @throws StatusError, StorageError */
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

  /** What is refused is asked for again, less and less often: by then somebody may have made room in a quota. */
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
