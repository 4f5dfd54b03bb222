import { CUSTOM_RESOURCE_CLEANUP } from '../../api/finalizers.ts';
import { DEFINITIONS } from '../../api/known-resources.ts';
import type { CustomResourceDefinition } from '../../api/types/apiextensions/v1.ts';
import { isDeleting } from '../../codec/stored-object.ts';
import { type Finding, withCondition } from '../../object/conditions.ts';
import { toTimestamp } from '../../object/timestamps.ts';
import { toObject } from '../../storage/object-reader.ts';
import type { Entry } from '../../storage/store.ts';
import { errorText } from '../../util/error-text.ts';
import { keepDoing, pause, pauseAfter } from '../../util/pause.ts';
import { AS_SERVER, type Client, type StoredResource } from '../../verbs/client/client.ts';
import { isConditionTrue } from './definition-conditions.ts';
import { removeInstances } from './instances.ts';

const RETRY_MS = 1000;
const BACKOFF = { firstMs: 500, longestMs: 30_000 };
/** How long finalizers may hold objects before the status of the definition says so. */
const PATIENCE_MS = 60_000;
/** A request that uses a definition which has ended meanwhile writes within this time or never. */
const LATE_MS = 120_000;

interface EndOptions {
  readonly client: Client;
  /** Whether built-in objects share the storage of the definition. They stay. */
  readonly isBuiltIn: (resource: StoredResource) => boolean;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/**
 * Ends definitions that are being deleted: removes their objects, then the finalizer (Kubernetes: apiextensions-apiserver,
 * pkg/controller/finalizer). All servers do so at the same time; each continues where another server, or its own earlier
 * process, has stopped.
 */
export class CustomResourceEnd {
  readonly #options: EndOptions;
  readonly #client: Client;
  /** By uid of the definition. */
  readonly #active = new Map<string, Promise<void>>();

  constructor(options: EndOptions) {
    this.#options = options;
    this.#client = options.client.as('crd-finalizer', AS_SERVER);
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#options.onError };
    await keepDoing(() => this.#follow(signal), signal, retry);
    await Promise.all(this.#active.values());
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of this.#client.watch(DEFINITIONS, signal)) {
      if (type === 'DELETED') this.#begin(`${entry.uid} late`, () => this.#removeLate(entry, signal));
      else if (isDeleting(entry.json, entry.metadataEnd))
        this.#begin(entry.uid, () => this.#end(entry, signal));
    }
  }

  #begin(key: string, work: () => Promise<void>): void {
    if (this.#active.has(key)) return;
    const active = work().finally(() => this.#active.delete(key));
    this.#active.set(key, active);
  }

  /** Repeats until the definition has ended: objects may have finalizers of their own. */
  async #end({ name, uid }: Entry, signal: AbortSignal): Promise<void> {
    let isAwaited = false;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const definition = await this.#client.get(DEFINITIONS, { name });
        if (definition?.metadata.uid !== uid || !isHeld(definition)) return;
        if (!isAwaited) await this.#say(definition, IN_PROGRESS);
        const found = await this.#empty(definition, signal);
        await this.#say(definition, found);
        if (found.status === 'False') return;
        isAwaited = true;
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.onError(error);
        isAwaited = false;
        failures += 1;
        await pause(pauseAfter(failures, BACKOFF), signal);
      }
    }
  }

  /** Removes the objects and returns the outcome; its status is False when none are left. */
  async #empty(definition: CustomResourceDefinition, signal: AbortSignal): Promise<Finding> {
    const resource = toResource(definition);
    if (this.#options.isBuiltIn(resource)) return OVERLAPPING;
    if (!isConditionTrue(definition, 'Established')) return NEVER_ESTABLISHED;
    try {
      const outcome = await removeInstances({ client: this.#client, resource, signal }, PATIENCE_MS);
      return outcome === 'gone' ? COMPLETED : UNCONFIRMED;
    } catch (error) {
      const why = errorText(error);
      if (!signal.aborted) await this.#say(definition, failed(`could not issue all deletes: ${why}`));
      throw error;
    }
  }

  /** Writes the outcome. The last one removes the finalizer, and with it the definition. */
  async #say({ metadata }: CustomResourceDefinition, found: Finding): Promise<void> {
    const { name = '', uid } = metadata;
    const time = toTimestamp(this.#options.now());
    await this.#client.updateState(DEFINITIONS, { name, subresource: 'status' }, (copy) => {
      if (copy.metadata.uid !== uid || !isHeld(copy)) return copy;
      const conditions = withCondition(copy.status?.conditions ?? [], found, time);
      const said = { ...copy, status: { ...copy.status, conditions: [...conditions] } };
      return found.status === 'False' ? withoutFinalizer(said) : said;
    });
  }

  /**
   * Removes late objects. Another server may have created an object before it learned that the definition ends. The object
   * would stay invisible until a definition of the same name comes.
   */
  async #removeLate(entry: Entry, signal: AbortSignal): Promise<void> {
    const definition = toObject<CustomResourceDefinition>(entry);
    const resource = toResource(definition);
    if (this.#options.isBuiltIn(resource)) return;
    const either = AbortSignal.any([signal, AbortSignal.timeout(LATE_MS)]);
    const retry = { retryMs: RETRY_MS, onError: this.#options.onError };
    await keepDoing(() => this.#followLate(entry.name, resource, either), either, retry);
  }

  async #followLate(definition: string, resource: StoredResource, signal: AbortSignal): Promise<void> {
    for await (const { type, entry } of this.#client.watch(resource, signal)) {
      if (type === 'DELETED' || isDeleting(entry.json, entry.metadataEnd)) continue;
      // The cached definitions are at least as new as the object.
      const next = await this.#client.get(DEFINITIONS, { name: definition }, 'cached');
      if (next === undefined) await this.#client.removeStored(resource, entry);
    }
  }
}

/** The storage of the objects: the accepted names, which equal the wanted ones once it is established. */
function toResource({ spec = {} }: CustomResourceDefinition): StoredResource {
  const { group = '', scope, names = {} } = spec;
  return { group, resource: names.plural ?? '', kind: names.kind ?? '', namespaced: scope === 'Namespaced' };
}

const isHeld = ({ metadata }: CustomResourceDefinition): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(CUSTOM_RESOURCE_CLEANUP) === true;

function withoutFinalizer(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { finalizers = [], ...metadata } = definition.metadata;
  const left = finalizers.filter((finalizer) => finalizer !== CUSTOM_RESOURCE_CLEANUP);
  return { ...definition, metadata: left.length === 0 ? metadata : { ...metadata, finalizers: left } };
}

const ending = (status: Finding['status'], reason: string, message: string): Finding => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const IN_PROGRESS = ending('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const COMPLETED = ending('False', 'InstanceDeletionCompleted', 'removed all instances');
const NEVER_ESTABLISHED = ending('False', 'NeverEstablished', 'resource was never established');
const OVERLAPPING = ending(
  'False',
  'OverlappingBuiltInResource',
  'instances overlap with built-in resources in storage',
);
const UNCONFIRMED = ending(
  'True',
  'InstanceDeletionCheck',
  'could not confirm zero CustomResources remaining: timed out waiting for the condition',
);
const failed = (message: string): Finding => ending('True', 'InstanceDeletionFailed', message);
