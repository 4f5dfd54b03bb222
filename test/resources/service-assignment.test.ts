import { describe, expect, test } from 'vitest';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { StatusError } from '../../src/api/status.ts';
import { parseCidr } from '../../src/object/ip.ts';
import { type AssignedValue, PoolFull, type ValueSource } from '../../src/registry/assigned-values.ts';
import { createAddressPool, createPortPool, type ValuePool } from '../../src/registry/value-pool.ts';
import { serviceValues } from '../../src/resources/core/service/assignment.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { problemsOnCreate } from '../kit/manifests.ts';

/** Values one after the other; `taken` are another's. */
class InOrder implements ValueSource {
  readonly pools: readonly ValuePool[];
  readonly #taken: ReadonlySet<string>;
  readonly #next = new Map<string, number>();

  constructor(
    ranges: readonly string[],
    { taken = [], last = 30_099 }: { taken?: string[]; last?: number } = {},
  ) {
    this.pools = [
      ...ranges.map((range, at) => {
        const cidr = parseCidr(range);
        if (cidr === undefined) throw new Error(range);
        return createAddressPool(cidr, { reserved: at === 0 ? 1 : 0, isWhole: false });
      }),
      createPortPool({ first: 30_000, last }),
    ];
    this.#taken = new Set(taken);
  }

  async pick(pool: ValuePool): Promise<string> {
    const index = this.#next.get(pool.name) ?? pool.reserved;
    if (index >= pool.size) throw new PoolFull();
    this.#next.set(pool.name, index + 1);
    return pool.valueAt(index);
  }

  async isFree({ value }: AssignedValue): Promise<boolean> {
    return !this.#taken.has(value);
  }
}

const V4 = '10.0.0.0/24';
const V6 = 'fd00::/112';
const single = (): InOrder => new InOrder([V4]);
const dual = (): InOrder => new InOrder([V4, V6]);

const toService = (spec: JsonObject, name = 'web'): ApiObject => ({
  kind: 'Service',
  apiVersion: 'v1',
  metadata: { name, namespace: 'default' },
  spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP' }], selector: { app: 'web' }, ...spec },
});

async function assigned(spec: JsonObject, values: ValueSource, name?: string): Promise<JsonObject> {
  const service = toService(spec, name);
  services.strategy.defaults?.(service);
  serviceValues.complete(service, undefined);
  await serviceValues.assign(service, undefined, values);
  return service.spec as JsonObject;
}

async function reassigned(before: JsonObject, after: JsonObject, values: ValueSource): Promise<JsonObject> {
  const old = toService(before);
  const service = toService(after);
  for (const each of [old, service]) services.strategy.defaults?.(each);
  serviceValues.complete(service, old);
  await serviceValues.assign(service, old, values);
  services.strategy.prepareForUpdate?.(service, old);
  return service.spec as JsonObject;
}

const refusal = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) =>
      error instanceof StatusError ? `${error.status.code} ${error.message}` : String(error),
  );

const held = (spec: JsonObject): string[] =>
  serviceValues.valuesOf(toService(spec)).map(({ pool, value }) => `${pool} ${value}`);

describe('addresses of a new service', () => {
  const CASES: readonly [string, JsonObject, () => ValueSource, JsonObject][] = [
    [
      'one of the preferred family',
      {},
      dual,
      {
        clusterIP: '10.0.0.2',
        clusterIPs: ['10.0.0.2'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
      },
    ],
    [
      'the preferred family is the first that is configured',
      {},
      () => new InOrder([V6, V4]),
      { clusterIP: 'fd00::2', ipFamilies: ['IPv6'] },
    ],
    ['one of the family that is asked for', { ipFamilies: ['IPv6'] }, dual, { clusterIPs: ['fd00::1'] }],
    [
      'both, where both may be had',
      { ipFamilyPolicy: 'PreferDualStack' },
      dual,
      { clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
    ],
    [
      'both in the order that is asked for',
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] },
      dual,
      { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.0.0.2'] },
    ],
    [
      'one, where two were only preferred',
      { ipFamilyPolicy: 'PreferDualStack' },
      single,
      { clusterIPs: ['10.0.0.2'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
    ],
    [
      'the one that is given, and its family with it',
      { clusterIP: 'fd00::77' },
      dual,
      { clusterIPs: ['fd00::77'], ipFamilies: ['IPv6'] },
    ],
    [
      'the second beside the one that is given',
      { clusterIP: '10.0.0.9', ipFamilyPolicy: 'PreferDualStack' },
      dual,
      { clusterIPs: ['10.0.0.9', 'fd00::1'] },
    ],
    ['none for a headless one', { clusterIP: 'None' }, dual, { clusterIPs: ['None'], ipFamilies: ['IPv4'] }],
    [
      'families of a headless one without a selector are both, with every configuration',
      { clusterIP: 'None', selector: {} },
      single,
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
    ],
  ];
  test.each(CASES)('%s', async (_, spec, values, outcome) => {
    expect(await assigned(spec, values())).toMatchObject(outcome);
    expect(problemsOnCreate(services, { spec: await assigned(spec, values()) })).toEqual([]);
  });

  test('an external name has neither address nor family', async () => {
    const spec = await assigned({ type: 'ExternalName', externalName: 'a.example.com' }, dual());
    expect(spec).not.toHaveProperty('clusterIP');
    expect(spec).not.toHaveProperty('ipFamilies');
    expect(spec).not.toHaveProperty('ipFamilyPolicy');
  });

  const REFUSED: readonly [string, JsonObject, () => ValueSource, string][] = [
    [
      'an address outside the range',
      { clusterIP: '10.0.1.1' },
      single,
      '422 Service "web" is invalid: spec.clusterIPs: Invalid value: []string{"10.0.1.1"}: failed to allocate IP 10.0.1.1: the provided IP (10.0.1.1) is not in the valid range. The range of valid IPs is 10.0.0.0/24',
    ],
    [
      'an address that a dry run finds taken',
      { clusterIP: '10.0.0.7' },
      () => new InOrder([V4], { taken: ['10.0.0.7'] }),
      '422 Service "web" is invalid: spec.clusterIPs: Invalid value: []string{"10.0.0.7"}: failed to allocate IP 10.0.0.7: provided IP is already allocated',
    ],
    [
      'the address of the cluster’s own API',
      { clusterIP: '10.0.0.1' },
      single,
      '422 Service "web" is invalid: spec.clusterIPs: Invalid value: []string{"10.0.0.1"}: failed to allocate IP 10.0.0.1: provided IP is already allocated',
    ],
    [
      'a family that is not configured',
      { ipFamilies: ['IPv6'] },
      single,
      '422 Service "web" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
    [
      'an address of such a family',
      { clusterIP: 'fd00::1' },
      single,
      '422 Service "web" is invalid: spec.clusterIPs[0]: Invalid value: []string{"fd00::1"}: IPv6 is not configured on this cluster',
    ],
    [
      'two families where there is one',
      { ipFamilyPolicy: 'RequireDualStack' },
      single,
      '422 Service "web" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      'two families with a single stack',
      { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'SingleStack' },
      dual,
      `422 Service "web" is invalid: spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
    ],
    [
      'text that is no address',
      { clusterIP: 'here' },
      single,
      '422 Service "web" is invalid: spec.clusterIPs[0]: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
  ];
  test.each(REFUSED)('%s is refused', async (_, spec, values, message) => {
    expect(await refusal(assigned(spec, values()))).toBe(message);
  });

  test('the first address is for default/kubernetes', async () => {
    expect(await assigned({ clusterIP: '10.0.0.1' }, single(), 'kubernetes')).toMatchObject({
      clusterIPs: ['10.0.0.1'],
    });
  });

  test('a range without a free address is an internal error', async () => {
    const values = new InOrder(['10.0.0.0/30']);
    await assigned({}, values);
    expect(await refusal(assigned({}, values))).toBe(
      '500 Internal error occurred: failed to allocate a serviceIP: range is full',
    );
  });
});

describe('addresses of a service that changes', () => {
  const ONE = {
    clusterIP: '10.0.0.9',
    clusterIPs: ['10.0.0.9'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  };
  const TWO = {
    ...{ clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9', 'fd00::9'], ipFamilies: ['IPv4', 'IPv6'] },
    ipFamilyPolicy: 'RequireDualStack',
  };

  test('they stay when the manifest it was made from comes again', async () => {
    expect(await reassigned(ONE, {}, single())).toMatchObject({
      clusterIPs: ['10.0.0.9'],
      ipFamilies: ['IPv4'],
    });
  });

  test('a second one comes and goes with the policy', async () => {
    const more = await reassigned(ONE, { ipFamilyPolicy: 'PreferDualStack' }, dual());
    expect(more).toMatchObject({ clusterIPs: ['10.0.0.9', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] });
    const less = await reassigned(TWO, { ...TWO, ipFamilyPolicy: 'SingleStack' }, dual());
    expect(less).toMatchObject({ clusterIPs: ['10.0.0.9'], ipFamilies: ['IPv4'] });
  });

  test('a second one is not given up without saying so', async () => {
    const less = { ...TWO, clusterIPs: ['10.0.0.9'], ipFamilies: ['IPv4'] };
    expect(await refusal(reassigned(TWO, less, dual()))).toBe(
      `422 Service "web" is invalid: [spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary cluster IP, spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary IP family]`,
    );
  });

  test('one that prefers two stays as it is when the cluster gets a second family', async () => {
    const preferring = { ...ONE, ipFamilyPolicy: 'PreferDualStack' };
    expect(await reassigned(preferring, preferring, dual())).toMatchObject({ clusterIPs: ['10.0.0.9'] });
  });

  test('they go with the type, and come back with it', async () => {
    const external = { type: 'ExternalName', externalName: 'a.example.com' };
    const gone = await reassigned(ONE, { ...ONE, ...external }, single());
    expect(gone).not.toHaveProperty('clusterIP');
    expect(held(gone)).toEqual([]);
    expect(await reassigned(gone, {}, single())).toMatchObject({ clusterIPs: ['10.0.0.2'] });
  });

  test('one from before addresses were assigned gets one with its next update', async () => {
    expect(await reassigned({}, {}, single())).toMatchObject({ clusterIP: '10.0.0.2' });
  });
});

describe('ports of the nodes', () => {
  const portsOf = (spec: JsonObject): unknown[] =>
    (spec.ports as JsonObject[]).map(({ nodePort }) => nodePort);
  const tcp = (port: number, nodePort?: number): JsonObject => ({
    ...{ name: `t${port}-${nodePort}`, port, protocol: 'TCP' },
    ...(nodePort === undefined ? {} : { nodePort }),
  });
  const udp = (port: number, nodePort?: number): JsonObject => ({
    ...tcp(port, nodePort),
    ...{ name: `u${port}-${nodePort}`, protocol: 'UDP' },
  });

  test('every port gets one, shared by the protocols of one number', async () => {
    const spec = await assigned({ type: 'NodePort', ports: [tcp(80), udp(53), tcp(53)] }, single());
    expect(portsOf(spec)).toEqual([30_000, 30_001, 30_001]);
    expect(held(spec).filter((value) => value.startsWith('NodePort'))).toEqual([
      'NodePort 30000',
      'NodePort 30001',
    ]);
  });

  test('one that is given later counts for an earlier port of the same number', async () => {
    const spec = await assigned({ type: 'NodePort', ports: [tcp(53), udp(53, 30_053)] }, single());
    expect(portsOf(spec)).toEqual([30_053, 30_053]);
  });

  test('load balancers may do without, but get what they ask for', async () => {
    const without = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false };
    expect(portsOf(await assigned({ ...without, ports: [tcp(80), tcp(81, 30_081)] }, single()))).toEqual([
      undefined,
      30_081,
    ]);
    expect(portsOf(await assigned({ type: 'LoadBalancer' }, single()))).toEqual([30_000]);
  });

  test('a load balancer with local traffic has one for its health', async () => {
    const spec = await assigned({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }, single());
    expect(spec.healthCheckNodePort).toBe(30_001);
    expect(held(spec)).toContain('NodePort 30001');
    const changed = await reassigned(
      spec,
      { type: 'LoadBalancer', externalTrafficPolicy: 'Cluster' },
      single(),
    );
    expect(held(changed)).not.toContain('NodePort 30001');
  });

  const REFUSED: readonly [string, JsonObject, string][] = [
    [
      'one outside the range',
      { type: 'NodePort', ports: [tcp(80, 80)] },
      '422 Service "web" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-30099',
    ],
    [
      'one that a dry run finds taken',
      { type: 'NodePort', ports: [tcp(80), tcp(81, 30_090)] },
      '422 Service "web" is invalid: spec.ports[1].nodePort: Invalid value: 30090: provided port is already allocated',
    ],
    [
      'one for two ports',
      { type: 'NodePort', ports: [tcp(80, 30_080), tcp(81, 30_080)] },
      '422 Service "web" is invalid: spec.ports[1].nodePort: Invalid value: 30080: provided port is already allocated',
    ],
    [
      'one for the health that is taken',
      { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_090 },
      '500 Internal error occurred: failed to allocate requested HealthCheck NodePort 30090: provided port is already allocated',
    ],
  ];
  test.each(REFUSED)('%s is refused', async (_, spec, message) => {
    const values = new InOrder([V4], { taken: ['30090'] });
    expect(await refusal(assigned(spec, values))).toBe(message);
  });

  test('a range without a free one is an internal error', async () => {
    const values = new InOrder([V4], { last: 30_000 });
    expect(await refusal(assigned({ type: 'NodePort', ports: [tcp(1), tcp(2)] }, values))).toBe(
      '500 Internal error occurred: failed to allocate a nodePort: range is full',
    );
  });

  test('they stay with their ports through updates, and go with the type', async () => {
    const before = await assigned({ type: 'NodePort', ports: [tcp(80), tcp(81)] }, single());
    const same = await reassigned(before, { type: 'NodePort', ports: [tcp(80), tcp(81), tcp(82)] }, dual());
    expect(portsOf(same).slice(0, 2)).toEqual([30_000, 30_001]);
    const plain = await reassigned(before, { ...before, type: 'ClusterIP' }, single());
    expect(portsOf(plain)).toEqual([undefined, undefined]);
    expect(held(plain)).toEqual(['IPv4 10.0.0.2']);
  });
});

test('an address is held in one spelling, for every spelling of the caller', () => {
  expect(held({ clusterIPs: ['010.000.000.009', 'FD00:0::0:9'] })).toEqual(['IPv4 10.0.0.9', 'IPv6 fd00::9']);
});
