import { expect } from 'vitest';
import type { Cluster } from '../../kit/cluster.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';

/** Lists that rules compare with themselves or with each other, each part of them different, so that no look-up ends early. */
const NODES = '/api/v1/nodes';
const CORE = '/api/v1/namespaces/default';

const many = <T>(count: number, item: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => item(at));
const addressOf = (at: number): string => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
const namesOf = (count: number): Record<string, string> =>
  Object.fromEntries(many(count, (at) => [`count/r${at}.example.com`, '1']));

const isThere =
  (path: string, object: { metadata: { name: string } } & Record<string, unknown>) =>
  async (cluster: Cluster): Promise<void> => {
    const { code, text } = await cluster.request('POST', path, object);
    expect([201, 409], text).toContain(code);
  };

const NODE = isThere(NODES, { metadata: { name: 'long' } });
const POD = isThere(`${CORE}/pods`, {
  metadata: { name: 'long' },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

const dryRun = (
  name: string,
  path: string,
  codes: readonly number[],
  object: () => object,
): HostileRequest => ({
  name,
  method: 'POST',
  path: `${path}?dryRun=All`,
  body: () => JSON.stringify(object()),
  codes,
});

const podWith = (name: string, spec: object): object => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

const tolerations = (at: number) => ({ key: `k${at}`, operator: 'Exists' });

const policyWith = (spec: object): object => ({
  metadata: { name: 'long' },
  spec: { matchConstraints: { resourceRules: [] }, validations: [{ expression: 'true' }], ...spec },
});

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';

export const LONG_LISTS: readonly HostileRequest[] = [
  dryRun('8,000 owners with the same uid', `${CORE}/configmaps`, [201], () => ({
    metadata: {
      name: 'owned',
      ownerReferences: many(8_000, (at) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${at}`, uid: 'u' })),
    },
  })),
  dryRun('10,000 ways to spread a pod', `${CORE}/pods`, [201], () =>
    podWith('spread', {
      topologySpreadConstraints: many(10_000, (at) => ({
        maxSkew: 1,
        topologyKey: `k${at}`,
        whenUnsatisfiable: 'ScheduleAnyway',
      })),
    }),
  ),
  {
    name: '12,000 tolerations in another order',
    method: 'PUT',
    path: `${CORE}/pods/tolerant`,
    before: isThere(`${CORE}/pods`, podWith('tolerant', { tolerations: many(12_000, tolerations) }) as never),
    body: () =>
      JSON.stringify(podWith('tolerant', { tolerations: many(12_000, (at) => tolerations(11_999 - at)) })),
  },
  dryRun('5,000 topologies of a storage class', '/apis/storage.k8s.io/v1/storageclasses', [201], () => ({
    metadata: { name: 'long' },
    provisioner: 'example.com/long',
    allowedTopologies: many(5_000, (at) => ({
      matchLabelExpressions: [{ key: 'zone', values: [`z${at}`] }],
    })),
  })),
  dryRun('250 variables of a policy, each made of the one before it', POLICIES, [422], () =>
    policyWith({
      variables: many(250, (at) => ({
        name: `v${at}`,
        expression: at === 0 ? 'object.spec.a' : `variables.v${at - 1} + 1`,
      })),
    }),
  ),
  dryRun('12,000 variables of a policy', POLICIES, [422], () =>
    policyWith({ variables: many(12_000, (at) => ({ name: `v${at}`, expression: '1' })) }),
  ),
  dryRun('a policy with 3,000 mistakes in one expression', POLICIES, [422], () =>
    policyWith({ validations: [{ expression: many(3_000, (at) => `a${at}(1)`).join(' && ') }] }),
  ),
  dryRun('16,000 validations of a policy', POLICIES, [422], () =>
    policyWith({ validations: many(16_000, (at) => ({ expression: `object.a == ${at}` })) }),
  ),
  {
    name: '12,000 addresses of a node',
    method: 'PUT',
    path: `${NODES}/long/status`,
    before: NODE,
    body: () =>
      JSON.stringify({
        metadata: { name: 'long' },
        status: { addresses: many(12_000, (at) => ({ type: 'InternalIP', address: addressOf(at) })) },
      }),
    codes: [200],
  },
  {
    name: '49,000 networks of a node',
    method: 'POST',
    path: NODES,
    body: () =>
      JSON.stringify({
        metadata: { name: 'networks' },
        spec: { podCIDR: '10.0.0.0/32', podCIDRs: many(49_000, (at) => `${addressOf(at)}/32`) },
      }),
    codes: [422],
  },
  {
    name: '16,000 addresses of a pod',
    method: 'PUT',
    path: `${CORE}/pods/long/status`,
    before: POD,
    body: () =>
      JSON.stringify({
        metadata: { name: 'long' },
        status: { podIP: '10.0.0.0', podIPs: many(16_000, (at) => ({ ip: addressOf(at) })) },
      }),
    codes: [422],
  },
  {
    name: '16,000 ports of one number, which warn of each other',
    method: 'POST',
    path: `${CORE}/pods?dryRun=All`,
    body: () =>
      JSON.stringify({
        metadata: { name: 'ports' },
        spec: { containers: [{ name: 'c', image: 'i', ports: many(16_000, () => ({ containerPort: 80 })) }] },
      }),
    codes: [201],
  },
  {
    name: '8,000 ports of one number on as many addresses of the node',
    method: 'POST',
    path: `${CORE}/pods?dryRun=All`,
    body: () =>
      JSON.stringify({
        metadata: { name: 'ports' },
        spec: {
          containers: [
            {
              name: 'c',
              image: 'i',
              ports: many(8_000, (at) => ({ containerPort: 80, hostPort: 80, hostIP: addressOf(at) })),
            },
          ],
        },
      }),
    codes: [201],
  },
  {
    name: '49,000 cluster addresses of a service',
    method: 'POST',
    path: `${CORE}/services?dryRun=All`,
    body: () =>
      JSON.stringify({
        metadata: { name: 'addresses' },
        spec: { ports: [{ port: 80 }], clusterIP: '10.0.0.0', clusterIPs: many(49_000, addressOf) },
      }),
    codes: [422],
  },
  {
    name: '49,000 cluster addresses of a service that are none',
    method: 'POST',
    path: `${CORE}/services?dryRun=All`,
    body: () =>
      JSON.stringify({
        metadata: { name: 'addresses' },
        spec: { ports: [{ port: 80 }], clusterIPs: many(49_000, (at) => `x${at}`) },
      }),
    codes: [422],
  },
  {
    name: 'a quota of 24,000 resources in 10,000 scopes',
    method: 'POST',
    path: `${CORE}/resourcequotas?dryRun=All`,
    body: () =>
      JSON.stringify({
        metadata: { name: 'long' },
        spec: { hard: namesOf(24_000), scopes: many(10_000, () => 'Terminating') },
      }),
    codes: [201],
  },
  {
    name: 'a table of endpoints with 8,000 addresses and 4,000 ports',
    method: 'GET',
    path: `${CORE}/endpoints`,
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    before: isThere(`${CORE}/endpoints`, {
      metadata: { name: 'long' },
      subsets: [
        {
          addresses: many(8_000, (at) => ({ ip: addressOf(at) })),
          ports: many(4_000, (at) => ({ name: `p${at}`, port: at + 1 })),
        },
      ],
    }),
    codes: [200],
  },
];
