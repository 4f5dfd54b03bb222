import type { QuotaLedger } from '../admission/plugins/resource-quota.ts';
import { type Measure, measureOf, only, scopesOf, ZERO } from '../admission/quota/quota.ts';
import { QUOTAS } from '../api/known-resources.ts';
import { toResourceKey } from '../api/names.ts';
import type { ResourceQuota, ResourceQuotaStatus } from '../api/types/core/v1.ts';
import {
  addLists,
  fromResourceList,
  NOTHING,
  type ResourceList,
  toResourceList,
} from '../object/resource-list.ts';
import type { Registry } from '../registry/registry.ts';
import type { ResourceDefinition } from '../registry/resource-definition.ts';
import { followAnew } from '../storage/follower.ts';
import { toObject } from '../storage/object-reader.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import { type AlsoRun, runTogether } from '../util/concurrency.ts';
import { keepDoing, pause } from '../util/pause.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';

/** Everything is counted again this often, in case an event was missed. */
const PERIOD_MS = 5 * 60_000;
const RETRY_MS = 1000;
/** Objects that end within this time are counted together. */
const GATHER_MS = 100;

/**
 * Maintains the status of ResourceQuotas, as a controller manager would: `hard` follows the spec, and `used` is counted again when
 * a quota changes, when counted objects change or are deleted, and regularly. Beside a controller manager, which counts in the
 * same way, it finds nothing to write.
 */
export class QuotaUsage {
  readonly #client: Client;
  readonly #quotas: StoredQuotas;
  readonly #definitions: () => readonly ResourceDefinition[];
  readonly #onResources: Registry['onChange'];
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  /** The quotas of each namespace: the names of their limits, by their name. */
  readonly #known = new Map<string, Map<string, readonly string[]>>();
  /** Quotas to be counted, as `namespace/name`. */
  readonly #due = new Set<string>();
  /** The followed resources, as `group/resource`. */
  readonly #followed = new Set<string>();
  #wake = Promise.withResolvers<void>();

  constructor(options: {
    client: Client;
    quotas: StoredQuotas;
    /** All resources. */
    definitions: () => readonly ResourceDefinition[];
    onResources: Registry['onChange'];
    now: () => Date;
    onError: (error: unknown) => void;
  }) {
    this.#client = options.client;
    this.#quotas = options.quotas;
    this.#definitions = options.definitions;
    this.#onResources = options.onResources;
    this.#now = options.now;
    this.#onError = options.onError;
  }

  /** @throws Error when quotas cannot be followed; may be called again */
  async run(signal: AbortSignal, works: () => void): Promise<void> {
    works();
    this.#followed.clear();
    await runTogether(
      [
        (either, also) => followAnew(() => this.#followQuotas(either, also), either),
        (either) => this.#keepCounting(either),
        (either) => this.#repeat(either),
      ],
      signal,
    );
  }

  async #followQuotas(signal: AbortSignal, also: AlsoRun): Promise<void> {
    this.#known.clear();
    const stop = this.#onResources(({ groups }) => this.#lookAgain(groups, also));
    try {
      for await (const { type, entry } of this.#client.watch(QUOTAS, signal)) {
        if (type === 'DELETED') this.#forget(entry);
        else this.#look(entry, also);
      }
    } finally {
      stop();
    }
  }

  #look(entry: Entry, also: AlsoRun): void {
    const { namespace, name } = entry;
    const quota = toObject<ResourceQuota>(entry);
    const limits = Object.keys(quota.spec?.hard ?? {});
    const quotas = this.#known.get(namespace) ?? new Map<string, readonly string[]>();
    this.#known.set(namespace, quotas.set(name, limits));
    this.#followAll(limits, also);
    if (!isSettled(quota)) this.#count(namespace, name);
  }

  #forget({ namespace, name }: Entry): void {
    const quotas = this.#known.get(namespace);
    quotas?.delete(name);
    if (quotas?.size === 0) this.#known.delete(namespace);
  }

  /** Resources of these groups came or went, which quotas may have been waiting for. */
  #lookAgain(groups: ReadonlySet<string>, also: AlsoRun): void {
    for (const [namespace, quotas] of this.#known) {
      for (const [name, limits] of quotas) {
        if (!limits.some((limit) => groups.has(groupOf(limit)))) continue;
        this.#followAll(limits, also);
        this.#count(namespace, name);
      }
    }
  }

  #followAll(limits: readonly string[], also: AlsoRun): void {
    for (const counted of resourcesCountedBy(limits, this.#definitions())) this.#followCounted(counted, also);
  }

  #followCounted({ measure, definition }: CountedResource, also: AlsoRun): void {
    const key = toResourceKey(definition);
    if (this.#followed.has(key)) return;
    this.#followed.add(key);
    const follow = async (signal: AbortSignal): Promise<void> => {
      for await (const event of this.#client.watch(measure.resource, signal)) {
        const quotas = this.#known.get(event.entry.namespace);
        if (quotas === undefined || !givesBack(event, measure)) continue;
        for (const name of quotas.keys()) this.#count(event.entry.namespace, name);
      }
    };
    also((signal) => followAnew(() => follow(signal), signal));
  }

  #count(namespace: string, name: string): void {
    this.#due.add(`${namespace}/${name}`);
    this.#wake.resolve();
  }

  /** A count that fails is repeated with the next round. */
  #keepCounting(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => this.#wake.resolve(), { once: true });
    return keepDoing(() => this.#countDue(signal), signal, { retryMs: RETRY_MS, onError: this.#onError });
  }

  async #countDue(signal: AbortSignal): Promise<void> {
    await this.#wake.promise;
    await pause(GATHER_MS, signal);
    this.#wake = Promise.withResolvers();
    if (signal.aborted) return;
    const due = [...this.#due];
    this.#due.clear();
    for (const key of due) {
      const [namespace = '', name = ''] = key.split('/');
      if (!(await this.#recount(namespace, name))) {
        await pause(RETRY_MS, signal);
        this.#count(namespace, name);
      }
    }
  }

  async #repeat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(PERIOD_MS, signal);
      for (const [namespace, quotas] of this.#known) {
        for (const name of quotas.keys()) this.#count(namespace, name);
      }
    }
  }

  /** False: the quota was charged meanwhile, and this count may lack the charge. */
  async #recount(namespace: string, name: string): Promise<boolean> {
    const quota = await this.#client.get(QUOTAS, { namespace, name });
    if (quota === undefined) return true;
    const used = await countUsage(this.#client, quota, this.#definitions(), this.#now());
    let isCurrent = true;
    await this.#quotas.change(namespace, name, (now) => {
      isCurrent = now.metadata.resourceVersion === quota.metadata.resourceVersion;
      return isCurrent ? { hard: { ...quota.spec?.hard }, used: fromResourceList(used) } : (now.status ?? {});
    });
    return isCurrent;
  }
}

/** `count/widgets.example.com` → example.com. Groups without a name do not change. */
function groupOf(limit: string): string {
  const dot = limit.indexOf('.');
  return limit.startsWith('count/') && dot > 0 ? limit.slice(dot + 1) : '';
}

/** Whether the status belongs to the current spec. */
function isSettled({ spec, status }: ResourceQuota): boolean {
  const wanted = toResourceList(spec?.hard);
  const [held, counted] = [toResourceList(status?.hard), toResourceList(status?.used)];
  if (held.size !== wanted.size || counted.size !== wanted.size) return false;
  return [...wanted].every(([name, { nanos }]) => held.get(name)?.nanos === nanos && counted.has(name));
}

/** Whether the event may lower usage. A write that raises usage is charged when it is admitted. */
function givesBack({ type, entry }: ObjectEvent, measure: Measure): boolean {
  return type === 'MODIFIED' ? measure.mayHaveShrunk?.(entry.fields) === true : type === 'DELETED';
}

interface CountedResource {
  readonly definition: ResourceDefinition;
  readonly measure: Measure;
}

/** The resources whose objects these limits count. */
function resourcesCountedBy(
  names: readonly string[],
  definitions: readonly ResourceDefinition[],
): CountedResource[] {
  return definitions.flatMap((definition) => {
    const measure = definition.namespaced ? measureOf(definition) : undefined;
    return measure !== undefined && names.some((name) => measure.counts(name))
      ? [{ definition, measure }]
      : [];
  });
}

/** Counts the usage of a quota's namespace over all objects. A limit that no measure counts has no usage. */
async function countUsage(
  client: Client,
  quota: ResourceQuota,
  definitions: readonly ResourceDefinition[],
  now: Date,
): Promise<ResourceList> {
  const hard = toResourceList(quota.spec?.hard);
  const { namespace = '' } = quota.metadata;
  let used: ResourceList = NOTHING;
  for (const { measure } of resourcesCountedBy([...hard.keys()], definitions)) {
    const names = [...hard.keys()].filter((name) => measure.counts(name));
    used = addLists(used, new Map(names.map((name) => [name, ZERO])));
    for await (const object of client.each(measure.resource, { namespace })) {
      if (!scopesOf(quota).every((selector) => measure.isInScope?.(selector, object) === true)) continue;
      used = addLists(
        used,
        only(measure.usage(object, now), (name) => names.includes(name)),
      );
    }
  }
  return used;
}

/** Writes the status of quotas, for admission, which charges, and for the controller, which counts. */
export class StoredQuotas implements QuotaLedger {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client.as('resource-quota', AS_SERVER);
  }

  write(
    namespace: string,
    name: string,
    used: (quota: ResourceQuota) => Record<string, string>,
  ): Promise<ResourceQuota | 'not-found'> {
    return this.change(namespace, name, (quota) => ({ ...quota.status, used: used(quota) }));
  }

  /** `status` may return the current status; then nothing is written. */
  change(
    namespace: string,
    name: string,
    status: (quota: ResourceQuota) => ResourceQuotaStatus,
  ): Promise<ResourceQuota | 'not-found'> {
    return this.#client.updateState(QUOTAS, { namespace, name, subresource: 'status' }, (quota) => ({
      ...quota,
      status: status(quota),
    }));
  }
}
