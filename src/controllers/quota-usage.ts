import type { ResourceOf } from '../api/names.ts';
import type { ResourceQuota } from '../api/types/core/v1.ts';
import { fromResourceList, toResourceList } from '../object/resource-list.ts';
import type { ResourceDefinition } from '../registry/definition.ts';
import { followAnew } from '../storage/follower.ts';
import { toObject } from '../storage/object-reader.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';
import { keepDoing } from '../util/keep-doing.ts';
import { pause } from '../util/pause.ts';
import { type AlsoRun, runTogether } from '../util/run-together.ts';
import type { Client } from '../verbs/client/client.ts';
import { type CountedResource, countUsage, resourcesCountedBy } from './quota-count.ts';
import type { StoredQuotas } from './quota-ledger.ts';

const QUOTAS: ResourceOf<ResourceQuota> = { group: '', resource: 'resourcequotas' };
/** Everything is counted again this often, whatever was seen or missed. */
const PERIOD_MS = 5 * 60_000;
const RETRY_MS = 1000;
/** Objects that end together are counted together. */
const GATHER_MS = 100;

/**
 * Keeps the status of ResourceQuotas true where no controller manager does: `hard` follows the spec, and `used` is counted anew
 * when a quota changes, when what it counts goes away or changes, and from time to time. Beside a controller manager, which
 * counts in the same way, it finds nothing to write.
 */
export class QuotaUsage {
  readonly #client: Client;
  readonly #quotas: StoredQuotas;
  readonly #definitions: () => readonly ResourceDefinition[];
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  /** Names of the quotas of each namespace. */
  readonly #known = new Map<string, Set<string>>();
  /** Quotas to be counted, as `namespace/name`. */
  readonly #due = new Set<string>();
  /** What is counted and followed already, as `group/resource`. */
  readonly #followed = new Set<string>();
  #wake = Promise.withResolvers<void>();

  constructor(options: {
    client: Client;
    quotas: StoredQuotas;
    /** All resources there are. */
    definitions: () => readonly ResourceDefinition[];
    now: () => Date;
    onError: (error: unknown) => void;
  }) {
    this.#client = options.client;
    this.#quotas = options.quotas;
    this.#definitions = options.definitions;
    this.#now = options.now;
    this.#onError = options.onError;
  }

  /** @throws Error when quotas cannot be followed; it can be run again */
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
    for await (const { type, entry } of this.#client.watch(QUOTAS, signal)) {
      const names = this.#known.get(entry.namespace) ?? new Set();
      if (type === 'DELETED') names.delete(entry.name);
      else names.add(entry.name);
      if (names.size === 0) this.#known.delete(entry.namespace);
      else this.#known.set(entry.namespace, names);
      if (type !== 'DELETED') this.#look(entry, also);
    }
  }

  #look(entry: Entry, also: AlsoRun): void {
    const quota = toObject<ResourceQuota>(entry);
    const names = Object.keys(quota.spec?.hard ?? {});
    for (const counted of resourcesCountedBy(names, this.#definitions())) {
      this.#followCounted(counted, also);
    }
    if (!isSettled(quota)) this.#count(entry.namespace, entry.name);
  }

  #followCounted({ measure, definition }: CountedResource, also: AlsoRun): void {
    const key = `${definition.group}/${definition.resource}`;
    if (this.#followed.has(key)) return;
    this.#followed.add(key);
    const follow = async (signal: AbortSignal): Promise<void> => {
      for await (const event of this.#client.watch(measure.resource, signal)) {
        const names = this.#known.get(event.entry.namespace);
        if (names === undefined || !givesBack(event, definition)) continue;
        for (const name of names) this.#count(event.entry.namespace, name);
      }
    };
    also((signal) => followAnew(() => follow(signal), signal));
  }

  #count(namespace: string, name: string): void {
    this.#due.add(`${namespace}/${name}`);
    this.#wake.resolve();
  }

  /** What cannot be counted now is counted with the next round. */
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
      for (const [namespace, names] of this.#known) {
        for (const name of names) this.#count(namespace, name);
      }
    }
  }

  /** False: somebody charged it meanwhile, which this count may not have seen. */
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

/** Whether the status is of this spec. */
function isSettled({ spec, status }: ResourceQuota): boolean {
  const wanted = toResourceList(spec?.hard);
  const [held, counted] = [toResourceList(status?.hard), toResourceList(status?.used)];
  if (held.size !== wanted.size || counted.size !== wanted.size) return false;
  return [...wanted].every(([name, { nanos }]) => held.get(name)?.nanos === nanos && counted.has(name));
}

/** Whether there may be less in use after this. A write that uses more is charged when it is admitted. */
function givesBack({ type, entry }: ObjectEvent, { group, resource }: ResourceDefinition): boolean {
  if (type !== 'MODIFIED') return type === 'DELETED';
  if (group !== '') return false;
  if (resource === 'pods') return ['Succeeded', 'Failed'].includes(entry.fields['status.phase'] ?? '');
  return resource === 'services' || resource === 'persistentvolumeclaims';
}
