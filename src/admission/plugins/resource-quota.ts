import { type Gates, minorOf } from '../../api/feature-gates.ts';
import { CLAIMS, PODS, QUOTAS } from '../../api/known-resources.ts';
import type { ResourceQuota } from '../../api/types/core/v1.ts';
import { fromResourceList, type ResourceList } from '../../object/resource-list.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects, FollowedObjects } from '../cluster-objects.ts';
import { describePlugin, isWriteOf, type PluginParts } from '../plugin.ts';
import {
  type Charged,
  chargesOf,
  type LimitedResource,
  readQuotaConfig,
  refuseExcess,
  withCharge,
} from '../quota/charge.ts';
import { isBounded, type Measure, measureOf, type Quota, toQuota } from '../quota/quota.ts';

/** Writes the usage of quotas. */
export interface QuotaLedger {
  /**
   * `used` computes the new status from the current quota; it is called again when another write came first.
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
  readonly isFeatureOn: Gates;
  readonly now: () => Date;
}

/**
 * Enforces the ResourceQuotas of namespaces (Kubernetes: apiserver/pkg/admission/plugin/resourcequota). Writes of a namespace that
 * wait together are charged together, with one write for each quota, so that a flood of pods does not cause conflicts.
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
      const { namespace, object } = attributes;
      if (namespace === '' || object === undefined) return undefined;
      if (options.limited.length === 0 && quotas.isEmpty(namespace)) return undefined;
      const measure = measureOf(attributes.definition);
      if (measure === undefined || !isCharged(attributes, measure, options.isFeatureOn)) return undefined;
      return tillOf(namespace).pay({ attributes, object, measure, now: options.now() });
    },
  };
}

/** Other writes change neither the usage of an object nor the quotas that count it: an object from before a quota can be written. */
function isCharged(attributes: AdmissionAttributes, { operations }: Measure, isOn: Gates): boolean {
  const { operation, subresource } = attributes;
  const minor = minorOf(isOn);
  if (subresource === '' && operations.includes(operation)) return true;
  if (operation !== 'UPDATE') return false;
  if (isWriteOf(attributes, PODS)) {
    if (minor < 32) return isOn('InPlacePodVerticalScaling');
    return minor >= 33 && isBounded(attributes.object?.spec) !== isBounded(attributes.old?.spec);
  }
  return isWriteOf(attributes, PODS, 'resize') || (minor >= 33 && isWriteOf(attributes, CLAIMS, 'status'));
}

interface Waiting extends Charged {
  resolve(): void;
  reject(error: unknown): void;
}

/** The queue of the writes of one namespace. */
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

  /** Charges a batch and rejects its refused writes. @throws an error that concerns all of them */
  async #charge(batch: readonly Waiting[]): Promise<void> {
    let view: readonly Quota[] = this.#quotas.in(this.#namespace).map(toQuota);
    const bills = new Map<string, Bill[]>();
    for (const write of batch) {
      const charges = orRefuse(write, () => chargesOf(view, write, this.#options.limited));
      if (charges === undefined || write.attributes.dryRun) continue;
      view = view.map((quota) => withCharge(quota, charges.get(quota.name)));
      for (const [name, added] of charges) getOrAdd(bills, name, () => []).push({ write, added });
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

  /** Checks the bills again with the stored quota, because the cached one may be old. Returns the refused writes and why. */
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
    isFeatureOn,
  }: Pick<PluginParts, 'objects' | 'config' | 'isFeatureOn'> & { readonly quotas: QuotaLedger }) =>
    createResourceQuota({
      ...{ objects, ledger: quotas },
      limited: readQuotaConfig(config),
      isFeatureOn,
      now: () => new Date(),
    }),
});
