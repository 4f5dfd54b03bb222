import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { AssignedValue, AssignedValues } from '../registry/assigned-values.ts';
import { NODE_PORTS, type ValuePool } from '../registry/value-pool.ts';
import type { Followed } from '../storage/follower.ts';
import { toObject } from '../storage/object-reader.ts';
import type { Entry, ObjectEvent } from '../storage/store.ts';

/**
 * AllocatedValues counts the values that the services of the cluster hold, by range. It follows the services, and so counts the
 * values that other servers allocate or release, without a query for each scrape. A change costs the values of one service.
 */
export class AllocatedValues implements Followed {
  readonly #pools: () => readonly ValuePool[];
  readonly #valuesOf: AssignedValues['valuesOf'];
  readonly #byObject = new Map<string, readonly AssignedValue[]>();
  /** The pools whose ranges are counted: those of services can grow. */
  #counted: readonly ValuePool[] = [];
  #counts = new Map<string, number>();

  /** `pools` answers another array whenever they have changed. */
  constructor(pools: () => readonly ValuePool[], valuesOf: AssignedValues['valuesOf']) {
    this.#pools = pools;
    this.#valuesOf = valuesOf;
  }

  replace(entries: readonly Entry[]): void {
    this.#byObject.clear();
    this.#counts.clear();
    for (const entry of entries) this.#set(entry, this.#valuesOf(toObject(entry)));
  }

  apply({ type, entry }: ObjectEvent): void {
    this.#set(entry, type === 'DELETED' ? [] : this.#valuesOf(toObject(entry)));
  }

  /** How many values of a range are held. */
  in(range: string): number {
    if (this.#counted !== this.#pools()) {
      this.#counted = this.#pools();
      this.#counts.clear();
      for (const values of this.#byObject.values()) this.#add(values, 1);
    }
    return this.#counts.get(range) ?? 0;
  }

  #set({ namespace, name }: Entry, values: readonly AssignedValue[]): void {
    const key = `${namespace}/${name}`;
    this.#add(this.#byObject.get(key) ?? [], -1);
    this.#add(values, 1);
    if (values.length > 0) this.#byObject.set(key, values);
    else this.#byObject.delete(key);
  }

  #add(values: readonly AssignedValue[], amount: number): void {
    for (const { pool: name, value } of values) {
      const pool = this.#counted.find((one) => one.name === name);
      const index = pool?.indexOf(value);
      if (pool === undefined || index === undefined) continue;
      const range = pool.rangeAt(index);
      this.#counts.set(range, (this.#counts.get(range) ?? 0) + amount);
    }
  }
}

/** The gauges of allocated and available values, under Kubernetes' names (registry/core/service). */
export function addAllocatedGauges(
  metrics: Metrics,
  pools: () => readonly ValuePool[],
  allocated: AllocatedValues,
): void {
  const add = (of: 'ips' | 'ports', kind: 'allocated' | 'available', help: string): void => {
    const subsystem = of === 'ips' ? 'clusterip_allocator' : 'nodeport_allocator';
    const name = `kube_apiserver_${subsystem}_${kind}_${of}`;
    const labels = of === 'ips' ? ['cidr'] : [];
    const refresh = (numbers: Numbers): void => {
      numbers.clear();
      for (const pool of pools()) {
        if ((pool.name === NODE_PORTS) !== (of === 'ports')) continue;
        for (const { range, size } of pool.parts) {
          const held = allocated.in(range);
          numbers.at(...(of === 'ips' ? [range] : [])).value = kind === 'allocated' ? held : size - held;
        }
      }
    };
    metrics.add(new Numbers('gauge', { name, help, labels }, refresh));
  };
  add('ips', 'allocated', 'Addresses that services hold, by range.');
  add('ips', 'available', 'Addresses that no service holds, by range.');
  add('ports', 'allocated', 'Node ports that services hold.');
  add('ports', 'available', 'Node ports that no service holds.');
}
