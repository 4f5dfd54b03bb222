import { expect, test } from 'vitest';
import type { ApiObject } from '../../../src/api/object-meta.ts';
import type { ServiceSpec } from '../../../src/api/types/core/v1.ts';
import { parseIp } from '../../../src/object/ip.ts';
import { Metrics } from '../../../src/observability/metrics.ts';
import { type AssignedValues, PoolFull } from '../../../src/registry/assigned-values.ts';
import {
  createAddressPool,
  createPortPool,
  joinPools,
  type ValuePool,
} from '../../../src/registry/value-pool.ts';
import { serviceValues } from '../../../src/resources/core/service/assignment.ts';
import { AllocationMetrics } from '../../../src/server/allocation-metrics.ts';
import type { Allocations } from '../../../src/storage/allocations.ts';
import { StorageError } from '../../../src/storage/errors.ts';
import { endTurn } from '../../../src/util/turns.ts';
import { allocateAndFinish, ValueAllocator } from '../../../src/verbs/writing/allocation.ts';

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
  return createAddressPool({ ...parsed, prefixBits }, { reserved: 0, isWhole: true });
};

test('a range larger than any memory is chosen from, and a far address may be asked for', async () => {
  const addresses = address('fd00::', 64);
  const { allocator, held } = setUp([addresses]);
  held.values.add('fd00::ffff:ffff:ffff:ffff');
  const write = allocator.begin(false);
  const chosen = [await write.pick(addresses), await write.pick(addresses)];
  write.end({ stored: true });
  expect(new Set(chosen).size).toBe(2);
  expect(chosen.every((one) => one.startsWith('fd00::'))).toBe(true);
});

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

const PORTS = createPortPool({ first: 1, last: 5000 });
const ADDRESSES = address('10.0.0.0', 20);
const servicesOf = serviceValues as AssignedValues;

/** Creates of services by servers or threads on one database, each with its own view of what is held. */
function setUpServers(count: number, pools: ValuePool[]) {
  const { held } = setUp();
  const observer = new AllocationMetrics(new Metrics());
  const allocators = Array.from({ length: count }, () => new ValueAllocator(held, pools, observer));
  const create = (at: number, spec: ServiceSpec): Promise<ApiObject> => {
    const allocator = allocators[at % count] as ValueAllocator;
    const service = { kind: 'Service', apiVersion: 'v1', metadata: { name: `s${at}` }, spec };
    const how = { values: servicesOf, allocator, dryRun: false, old: undefined };
    return allocateAndFinish(how, service, async (copy) => {
      await endTurn();
      const claimed = servicesOf.valuesOf(copy);
      const value = claimed.find((one) => held.values.has(one.value));
      const key = { group: '', resource: 'services', namespace: 'default', name: `s${at}` };
      if (value !== undefined) throw new StorageError({ kind: 'taken', key, value });
      for (const one of claimed) held.values.add(one.value);
      return copy;
    });
  };
  return { held, create };
}

/** Left in each pool, for more creates than that. */
const LEFT = 12;

test.each([
  {
    spec: { type: 'NodePort', ports: [{ port: 80 }] },
    pool: PORTS,
    refusal: 'failed to allocate a nodePort',
  },
  { spec: { type: 'ClusterIP' }, pool: ADDRESSES, refusal: 'failed to allocate a serviceIP' },
])(
  'the last values of $pool.range are found by servers that last looked when it was empty',
  async ({ spec, pool, refusal }) => {
    const roomy = pool === PORTS ? [address('10.64.0.0', 12), PORTS] : [ADDRESSES];
    const { held, create } = setUpServers(6, roomy);
    for (let at = 0; at < 6; at += 1) await create(at, spec);
    const free = Array.from({ length: pool.size }, (_, index) => pool.valueAt(index)).filter(
      (value) => !held.values.has(value),
    );
    for (const value of free.slice(LEFT)) held.values.add(value);
    const created = await Promise.allSettled(Array.from({ length: 40 }, (_, at) => create(6 + at, spec)));
    const refusals = created.flatMap((one) => (one.status === 'rejected' ? [one.reason.message] : []));
    expect(new Set(refusals)).toEqual(new Set([`Internal error occurred: ${refusal}: range is full`]));
    expect(refusals).toHaveLength(40 - LEFT);
    expect(free.filter((value) => !held.values.has(value))).toEqual([]);
  },
);

test('a value that the caller named is refused at once, although others are free', async () => {
  const { create } = setUpServers(2, [ADDRESSES]);
  const spec = { type: 'ClusterIP', clusterIP: '10.0.0.77' };
  await create(0, spec);
  await expect(create(1, spec)).rejects.toThrow('provided IP is already allocated');
});
