import { expect, test } from 'vitest';
import { poolsOf } from '../../src/controllers/service-ranges.ts';
import { type IpRange, parseCidr } from '../../src/object/ip.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { createPortPool, type ValuePool } from '../../src/registry/value-pool.ts';
import { serviceValues } from '../../src/resources/core/service/assignment.ts';
import { AllocatedValues, addAllocatedGauges } from '../../src/server/allocated-values.ts';
import { CachedEntry } from '../../src/storage/cached-entry.ts';
import { toRevision } from '../../src/storage/revision.ts';
import type { ObjectEvent } from '../../src/storage/store.ts';

/** What kube-apiserver reports for each of its ranges: the addresses within it, and how many it has beside them. */

const range = (text: string): IpRange => {
  const cidr = parseCidr(text);
  if (cidr === undefined) throw new Error(text);
  return cidr;
};

function setUp(own: readonly string[]) {
  const ports = createPortPool({ first: 30_000, last: 30_009 });
  const poolsWith = (ready: readonly string[]): ValuePool[] => [
    ...poolsOf(own.map(range), ready.map(range)),
    ports,
  ];
  let pools = poolsWith([]);
  const metrics = new Metrics();
  const values = new AllocatedValues(() => pools, serviceValues.valuesOf);
  addAllocatedGauges(metrics, () => pools, values);
  return {
    values,
    ready: (...ranges: string[]) => {
      pools = poolsWith(ranges);
    },
    shown: async (): Promise<string[]> =>
      (await metrics.text())
        .split('\n')
        .filter((line) => line.startsWith('kube_apiserver_'))
        .map((line) => line.replace(/^kube_apiserver_|_allocator/g, '')),
  };
}

let revision = 0;

function service(name: string, spec: object): CachedEntry {
  revision += 1;
  const object = { kind: 'Service', apiVersion: 'v1', metadata: { name, namespace: 'shop' }, spec };
  return new CachedEntry(
    {
      key: { group: '', resource: 'services', namespace: 'shop', name },
      uid: name,
      revision: toRevision(revision),
      json: Buffer.from(JSON.stringify(object)),
    },
    () => ({}),
  );
}

const event = (type: ObjectEvent['type'], entry: CachedEntry): ObjectEvent => ({
  type,
  entry,
  revision: entry.revision,
});
const at = (...clusterIPs: string[]) => ({ clusterIPs, clusterIP: clusterIPs[0] });
const ofAddresses = (lines: readonly string[]): string[] =>
  lines.filter((line) => line.startsWith('clusterip')).sort();

test('each range has gauges of its own, and an address counts where it lies', async () => {
  const { values, ready, shown } = setUp(['10.0.0.0/28', 'fd00::/120']);
  ready('10.7.0.0/29', 'fd00:7::/124');
  values.replace([
    service('a', at('10.0.0.1', 'fd00::1')),
    service('b', at('10.7.0.3')),
    service('c', at('None')),
  ]);
  values.apply(
    event('ADDED', service('d', { ...at('10.7.0.4'), type: 'NodePort', ports: [{ nodePort: 30_001 }] })),
  );
  values.apply(event('ADDED', service('e', at('FD00:0007::000A'))));
  expect(ofAddresses(await shown())).toEqual([
    'clusterip_allocated_ips{cidr="10.0.0.0/28"} 1',
    'clusterip_allocated_ips{cidr="10.7.0.0/29"} 2',
    'clusterip_allocated_ips{cidr="fd00:7::/124"} 1',
    'clusterip_allocated_ips{cidr="fd00::/120"} 1',
    'clusterip_available_ips{cidr="10.0.0.0/28"} 13',
    'clusterip_available_ips{cidr="10.7.0.0/29"} 4',
    'clusterip_available_ips{cidr="fd00:7::/124"} 14',
    'clusterip_available_ips{cidr="fd00::/120"} 254',
  ]);
  expect((await shown()).filter((line) => line.startsWith('nodeport'))).toEqual([
    'nodeport_allocated_ports 1',
    'nodeport_available_ports 9',
  ]);
});

test('a range that comes counts what was there before, and one that goes has no gauges', async () => {
  const { values, ready, shown } = setUp(['10.0.0.0/28']);
  values.replace([service('a', at('10.0.0.1')), service('b', at('10.7.0.3'))]);
  expect(ofAddresses(await shown())).toEqual([
    'clusterip_allocated_ips{cidr="10.0.0.0/28"} 1',
    'clusterip_available_ips{cidr="10.0.0.0/28"} 13',
  ]);
  ready('10.7.0.0/29');
  values.apply(event('MODIFIED', service('b', at('10.7.0.4'))));
  expect(ofAddresses(await shown())).toEqual([
    'clusterip_allocated_ips{cidr="10.0.0.0/28"} 1',
    'clusterip_allocated_ips{cidr="10.7.0.0/29"} 1',
    'clusterip_available_ips{cidr="10.0.0.0/28"} 13',
    'clusterip_available_ips{cidr="10.7.0.0/29"} 5',
  ]);
  values.apply(event('DELETED', service('b', at('10.7.0.4'))));
  ready();
  values.apply(event('DELETED', service('a', at('10.0.0.1'))));
  expect(ofAddresses(await shown())).toEqual([
    'clusterip_allocated_ips{cidr="10.0.0.0/28"} 0',
    'clusterip_available_ips{cidr="10.0.0.0/28"} 14',
  ]);
});

test('a range within another one has the gauges of that', async () => {
  const { values, ready, shown } = setUp(['10.0.0.0/28']);
  values.replace([service('a', at('10.0.0.1')), service('b', at('10.0.0.200'))]);
  ready('10.0.0.0/24', '10.0.0.128/25');
  expect(ofAddresses(await shown())).toEqual([
    'clusterip_allocated_ips{cidr="10.0.0.0/24"} 2',
    'clusterip_available_ips{cidr="10.0.0.0/24"} 252',
  ]);
});
