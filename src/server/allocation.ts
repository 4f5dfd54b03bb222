import type { ServerOptions } from '../options/options.ts';
import { createAddressPool, createPortPool, type ValuePool } from '../registry/value-pool.ts';
import type { Allocations } from '../storage/allocations.ts';
import { ValueAllocator } from '../verbs/writing/allocator.ts';

/** What the server assigns to services, and from where. */
export interface Allocation {
  readonly pools: readonly ValuePool[];
  readonly allocator: ValueAllocator;
}

export function createAllocation(options: ServerOptions, allocations: Allocations): Allocation {
  const pools = [
    // The first address is that of the service through which the cluster reaches this API.
    ...options.serviceClusterIpRanges.map((range, at) => createAddressPool(range, at === 0 ? 1 : 0)),
    createPortPool(options.serviceNodePortRange),
  ];
  return { pools, allocator: new ValueAllocator(allocations, pools) };
}
