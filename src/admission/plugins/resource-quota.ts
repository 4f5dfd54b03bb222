import type { ResourceOf } from '../../api/names.ts';
import type { ResourceQuota } from '../../api/types/core/v1.ts';
import { fromResourceList, type ResourceList } from '../../object/resource-list.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { describePlugin, type PluginParts } from '../plugin.ts';
import { type Charged, chargesOf, refuseExcess, withCharge } from '../quota/charge.ts';
import { measureOf } from '../quota/measures/all.ts';
import { type Quota, toQuota } from '../quota/quota.ts';
import type { LimitedResource } from '../quota/quota-config.ts';
import { readQuotaConfig } from '../quota/quota-config.ts';

const QUOTAS: ResourceOf<ResourceQuota> = { group: '', resource: 'resourcequotas' };

/** Writes what quotas have used. */
export interface QuotaLedger {
  /**
   * `used` is asked for what is to stand in the status, with the quota as it is; again when somebody else wrote meanwhile.
   * A quota that is gone limits nothing. @throws StatusError
   */
  write(
    namespace: string,
    name: string,
    used: (quota: ResourceQuota) => Record<string, string>,
  ): Promise<unknown>;
}

interface Options {
  readonly objects: ClusterObjects;
  readonly ledger: QuotaLedger;
  readonly limited: readonly LimitedResource[];
  readonly now: () => Date;
}

/**
 * No namespace uses more than its ResourceQuotas allow (Kubernetes: apiserver/pkg/admission/plugin/resourcequota). Writes of
 * a namespace that wait together are charged together, one write a quota, so that a flood of pods does not fight over it.
 */
export function createResourceQuota(options: Options): AdmissionPlugin {
  const quotas = options.objects.follow(QUOTAS);
  const tills = new Map<string, Till>();
  const tillOf = (namespace: string): Till => {
    const till = tills.get(namespace) ?? new Till(namespace, quotas, options, () => tills.delete(namespace));
    tills.set(namespace, till);
    return till;
  };
  return {
    name: 'ResourceQuota',
    operations: ['CREATE', 'UPDATE'],
    validate: (attributes) => {
      const { namespace, subresource, object, operation } = attributes;
      if (namespace === '' || subresource !== '' || object === undefined) return undefined;
      if (options.limited.length === 0 && quotas.isEmpty(namespace)) return undefined;
      const measure = measureOf(attributes.definition);
      if (measure?.operations.includes(operation) !== true) return undefined;
      return tillOf(namespace).pay({ attributes, object, measure, now: options.now() });
    },
  };
}

interface Waiting extends Charged {
  resolve(): void;
  reject(error: unknown): void;
}

/** Where the writes of one namespace stand in line. */
class Till {
  readonly #namespace: string;
  readonly #quotas: FollowedObjects<ResourceQuota>;
  readonly #options: Options;
  readonly #onEmpty: () => void;
  #line: Waiting[] = [];
  #open = false;

  constructor(
    namespace: string,
    quotas: FollowedObjects<ResourceQuota>,
    options: Options,
    onEmpty: () => void,
  ) {
    this.#namespace = namespace;
    this.#quotas = quotas;
    this.#options = options;
    this.#onEmpty = onEmpty;
  }

  pay(write: Charged): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#line.push({ ...write, resolve, reject });
    if (!this.#open) void this.#serve();
    return promise;
  }

  async #serve(): Promise<void> {
    this.#open = true;
    while (this.#line.length > 0) {
      const batch = this.#line;
      this.#line = [];
      try {
        await this.#charge(batch);
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#open = false;
    this.#onEmpty();
  }

  /** Those that are refused are told so here. @throws what keeps all of them from being charged */
  async #charge(batch: readonly Waiting[]): Promise<void> {
    let view: readonly Quota[] = this.#quotas.in(this.#namespace).map(toQuota);
    const bills = new Map<string, Bill[]>();
    for (const write of batch) {
      const charges = orRefuse(write, () => chargesOf(view, write, this.#options.limited));
      if (charges === undefined || write.attributes.dryRun) continue;
      view = view.map((quota) => withCharge(quota, charges.get(quota.name)));
      for (const [name, added] of charges) {
        bills.set(name, [...(bills.get(name) ?? []), { write, added }]);
      }
    }
    const refused = new Set<Waiting>();
    for (const [name, billed] of bills) {
      const open = billed.filter(({ write }) => !refused.has(write));
      for (const [write, error] of await this.#write(name, open)) {
        refused.add(write);
        write.reject(error);
      }
    }
  }

  /** What the cache said may be old by now: the quota as it is has the last word. Answers whom it refuses, and why. */
  async #write(name: string, bills: readonly Bill[]): Promise<ReadonlyMap<Waiting, unknown>> {
    let refused = new Map<Waiting, unknown>();
    await this.#options.ledger.write(this.#namespace, name, (object) => {
      refused = new Map();
      let quota = toQuota(object);
      for (const { write, added } of bills) {
        const error = caught(() => refuseExcess(quota, added, write.attributes));
        if (error === undefined) quota = withCharge(quota, added);
        else refused.set(write, error);
      }
      return fromResourceList(quota.used);
    });
    return refused;
  }
}

interface Bill {
  readonly write: Waiting;
  readonly added: ResourceList;
}

function orRefuse<Result>(write: Waiting, run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    write.reject(error);
    return undefined;
  }
}

function caught(run: () => void): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}

export const resourceQuota = describePlugin({
  name: 'ResourceQuota',
  isDefault: true,
  create: ({
    objects,
    quotas,
    config,
  }: Pick<PluginParts, 'objects' | 'config'> & { readonly quotas: QuotaLedger }) =>
    createResourceQuota({ objects, ledger: quotas, limited: readQuotaConfig(config), now: () => new Date() }),
});
