import { expect, test } from 'vitest';
import { parseIp } from '../../../src/object/ip.ts';
import { Metrics } from '../../../src/observability/metrics.ts';
import { PoolFull } from '../../../src/registry/assigned-values.ts';
import { createAddressPool, createPortPool, joinPools } from '../../../src/registry/value-pool.ts';
import { AllocationMetrics } from '../../../src/server/allocation-metrics.ts';
import type { Allocations } from '../../../src/storage/allocations.ts';
import { ValueAllocator } from '../../../src/verbs/writing/allocation.ts';

/** What the database would say. */
class Held implements Allocations {
  readonly values = new Set<string>();
  questions = 0;

  async held(): Promise<string[]> {
    this.questions += 1;
    return [...this.values];
  }

  async holder() {
    return undefined;
  }

  async repair() {
    return { added: [], removed: [], contested: [] };
  }
}

const pool = createPortPool({ first: 100, last: 119 });

function setUp(pools = [pool]) {
  const held = new Held();
  const metrics = new Metrics();
  const observed = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => /^kube_apiserver.*_(total|count)/.test(line));
  return { held, observed, allocator: new ValueAllocator(held, pools, new AllocationMetrics(metrics)) };
}

test('the upper band is chosen from before the lower one, and nothing twice', async () => {
  const { allocator } = setUp();
  const write = allocator.begin(false);
  const ports: number[] = [];
  for (let n = 0; n < 20; n += 1) ports.push(Number(await write.pick(pool)));
  expect(new Set(ports).size).toBe(20);
  expect(ports.slice(0, 4).every((port) => port >= 116)).toBe(true);
  await expect(write.pick(pool)).rejects.toThrow(PoolFull);
});

test('values of a write that failed are free again', async () => {
  const { allocator } = setUp();
  const write = allocator.begin(false);
  for (let n = 0; n < 20; n += 1) await write.pick(pool);
  write.end({ stored: false });
  const next = allocator.begin(false);
  const ports = new Set<string>();
  for (let n = 0; n < 20; n += 1) ports.add(await next.pick(pool));
  expect(ports.size).toBe(20);
});

test('a value that turned out to be taken is not chosen again', async () => {
  const { allocator, held } = setUp();
  for (let n = 100; n < 119; n += 1) held.values.add(String(n));
  const first = allocator.begin(false);
  expect(await first.pick(pool)).toBe('119');
  held.values.add('119');
  first.end({ stored: false, taken: { pool: 'NodePort', value: '119' } });
  await expect(allocator.begin(false).pick(pool)).rejects.toThrow('range is full');
});

test('what others released is noticed once nothing seems left', async () => {
  const { allocator, held } = setUp();
  for (let n = 100; n < 120; n += 1) held.values.add(String(n));
  await expect(allocator.begin(false).pick(pool)).rejects.toThrow(PoolFull);
  held.values.delete('107');
  expect(await allocator.begin(false).pick(pool)).toBe('107');
});

test('a dry run chooses, and keeps nothing', async () => {
  const { allocator, held } = setUp();
  for (let n = 0; n < 50; n += 1) {
    const write = allocator.begin(true);
    await write.pick(pool);
    write.end({ stored: true });
  }
  expect(held.questions).toBe(1);
});

const address = (text: string, prefixBits: number) => {
  const parsed = parseIp(text);
  if (parsed === undefined) throw new Error(`${text} is no address`);
  return createAddressPool({ ...parsed, prefixBits }, 0);
};

test('allocations are counted by range and by who chose the value, those of dry runs are not', async () => {
  const addresses = joinPools(address('10.0.0.0', 30), [address('10.1.0.0', 30)]);
  const { allocator, observed } = setUp([addresses, pool]);
  const object = { kind: 'Service', apiVersion: 'v1', metadata: { name: 's' } };
  const write = allocator.begin(false);
  await write.pick(pool);
  await write.isFree({ pool: 'IPv4', value: '10.1.0.1' }, object);
  write.end({ stored: true });
  const dry = allocator.begin(true);
  await dry.pick(pool);
  dry.end({ stored: true });
  const taken = allocator.begin(false);
  await taken.isFree({ pool: 'IPv4', value: '10.0.0.1' }, object);
  taken.end({ stored: false, taken: { pool: 'IPv4', value: '10.0.0.1' } });
  const full = allocator.begin(false);
  for (let n = 0; n < 4; n += 1) await full.pick(addresses);
  await expect(full.pick(addresses)).rejects.toThrow(PoolFull);
  full.end({ stored: false });
  expect(await observed()).toEqual([
    'kube_apiserver_clusterip_allocator_allocation_duration_seconds_count{cidr="10.1.0.0/30"} 1',
    'kube_apiserver_clusterip_allocator_allocation_errors_total{cidr="10.0.0.0/30",scope="static"} 1',
    'kube_apiserver_clusterip_allocator_allocation_errors_total{cidr="10.0.0.0/30",scope="dynamic"} 1',
    'kube_apiserver_clusterip_allocator_allocation_total{cidr="10.1.0.0/30",scope="static"} 1',
    'kube_apiserver_nodeport_allocator_allocation_total{scope="dynamic"} 1',
  ]);
});
