import { expect, test } from 'vitest';
import type { Gates } from '../../src/api/feature-gates.ts';
import type { ApiObject } from '../../src/api/object-meta.ts';
import { builtInResources } from '../../src/resources/all.ts';

/** A response has room for a few dozen warnings: of very many addresses, the others are not even examined. */

const isOn: Gates = Object.assign(() => true, { minor: 35 as const });
const ODD = Array.from({ length: 5_000 }, (_, at) => `2001:DB8::${at.toString(16)}`);
const ranges = ODD.map((ip) => `${ip}/128`);

test.each<[string, object]>([
  ['nodes', { spec: { podCIDRs: ranges } }],
  ['endpoints', { subsets: [{ addresses: ODD.map((ip) => ({ ip })) }] }],
  ['endpointslices', { addressType: 'IPv6', endpoints: [{ addresses: ODD }] }],
  [
    'networkpolicies',
    { spec: { ingress: [{ from: [{ ipBlock: { cidr: '2001:db8::/32', except: ranges } }] }] } },
  ],
  ['services', { spec: { externalIPs: ODD } }],
  ['services', { spec: { loadBalancerSourceRanges: ranges } }],
  ['pods', { spec: { containers: [], hostAliases: ODD.map((ip) => ({ ip })) } }],
])('%s with 5,000 addresses that are warned of have a hundred warnings or few more', (resource, parts) => {
  const definition = builtInResources(35).find((one) => one.resource === resource);
  const object = { metadata: { name: 'long' }, ...parts } as unknown as ApiObject;
  const found = definition?.strategy.warnings?.(object, undefined, isOn) ?? [];
  expect(found.length).toBeGreaterThanOrEqual(100);
  expect(found.length).toBeLessThan(110);
});
