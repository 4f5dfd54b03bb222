import type { Cluster } from '../../kit/cluster.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';
import { CORE, dryRun, many, put, send } from './written-requests.ts';

/** What came after 1.31 beside kinds: fields of pods, selectors in reviews, CBOR, and warnings about addresses. */
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

const addressOf = (at: number): string => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
/** Valid, and warned of: not in canonical form. */
const oddOf = (at: number): string => `2001:DB8::${at.toString(16)}`;

// Pods, reviews and other fields.

const podWith = (spec: object): object => ({
  metadata: { name: 'hostile' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});

const amounts = (count: number, name: (at: number) => string): object =>
  Object.fromEntries(many(count, (at) => [name(at), '1']));

const ACCESS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const accessWith = (attributes: object): object => ({
  spec: { resourceAttributes: { verb: 'list', resource: 'pods', ...attributes } },
});

export const FIELDS: readonly HostileRequest[] = [
  dryRun('a pod with 20,000 resources of its own', `${CORE}/pods`, 422, () =>
    podWith({ resources: { limits: amounts(20_000, (at) => `hugepages-${at + 1}Ki`) } }),
  ),
  dryRun('a pod with 20,000 resources that it cannot have', `${CORE}/pods`, 422, () =>
    podWith({ resources: { requests: amounts(20_000, (at) => `example.com/r${at}`) } }),
  ),
  dryRun('a pod with 12,000 claims', `${CORE}/pods`, 201, () =>
    podWith({ resourceClaims: many(12_000, (at) => ({ name: `c${at}`, resourceClaimName: `c${at}` })) }),
  ),
  dryRun('a pod of 6,000 containers, each with a restart policy of its own', `${CORE}/pods`, 422, () =>
    podWith({
      initContainers: many(6_000, (at) => ({
        name: `c${at}`,
        image: 'i',
        restartPolicy: 'Never',
        restartPolicyRules: [{}],
      })),
    }),
  ),
  send('a review of access with 5,000 requirements of fields', ['POST', ACCESS], [201], () =>
    accessWith({
      fieldSelector: {
        requirements: many(5_000, (at) => ({ key: `a${at}`, operator: 'In', values: ['b'] })),
      },
    }),
  ),
  send('a review of access with labels of 40,000 values', ['POST', ACCESS], [201], () =>
    accessWith({
      labelSelector: { requirements: [{ key: 'a', operator: 'In', values: many(40_000, (at) => `v${at}`) }] },
    }),
  ),
  send('a review of access with a text of three megabytes', ['POST', ACCESS], [201], () =>
    accessWith({ labelSelector: { rawSelector: 'a,'.repeat(1_400_000) } }),
  ),
  send('a review of access with a text of backslashes', ['POST', ACCESS], [201], () =>
    accessWith({ fieldSelector: { rawSelector: `a=${'\\\\'.repeat(700_000)}` } }),
  ),
  dryRun(
    'a migration of a resource with a name of a megabyte',
    '/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations',
    422,
    () => ({
      metadata: { name: 'hostile' },
      spec: { resource: { group: 'a.'.repeat(500_000), resource: 'a-'.repeat(500_000) } },
    }),
  ),
  send('flags, in 16 kB of media types', ['GET', '/flagz'], [200, 406], () => ''),
];

// Addresses that are warned of since 1.33.

export const WARNED: readonly HostileRequest[] = [
  dryRun('48,000 networks of a node', '/api/v1/nodes', 422, () => ({
    metadata: { name: 'hostile' },
    spec: { podCIDR: '2001:DB8::0/128', podCIDRs: many(48_000, (at) => `${oddOf(at)}/128`) },
  })),
  dryRun('16,000 endpoints', `${CORE}/endpoints`, 201, () => ({
    metadata: { name: 'hostile' },
    subsets: [{ addresses: many(16_000, (at) => ({ ip: oddOf(at) })), ports: [{ port: 80 }] }],
  })),
  dryRun('16,000 endpoints with good addresses', `${CORE}/endpoints`, 201, () => ({
    metadata: { name: 'hostile' },
    subsets: [{ addresses: many(16_000, (at) => ({ ip: addressOf(at) })), ports: [{ port: 80 }] }],
  })),
  // Slices take IPv6 in canonical form alone.
  ...[['odd', 422, oddOf] as const, ['good', 201, (at: number) => oddOf(at + 1).toLowerCase()] as const].map(
    ([what, code, of]) =>
      dryRun(
        `a slice of endpoints with 45,000 ${what} addresses`,
        '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
        code,
        () => ({
          ...{ metadata: { name: 'hostile' }, addressType: 'IPv6', ports: [] },
          endpoints: many(450, (at) => ({ addresses: many(100, (one) => of(at * 100 + one)) })),
        }),
      ),
  ),
  dryRun(
    'a policy for 24,000 networks',
    '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies',
    201,
    () => ({
      metadata: { name: 'hostile' },
      spec: {
        podSelector: {},
        ingress: [
          {
            from: [{ ipBlock: { cidr: '2001:DB8::/32', except: many(24_000, (at) => `${oddOf(at)}/128`) } }],
          },
        ],
      },
    }),
  ),
  dryRun('48,000 external addresses of a service', `${CORE}/services`, 201, () => ({
    metadata: { name: 'hostile' },
    spec: { ports: [{ port: 80 }], externalIPs: many(48_000, oddOf) },
  })),
  dryRun('a load balancer for 48,000 networks', `${CORE}/services`, 201, () => ({
    metadata: { name: 'hostile' },
    spec: {
      ...{ ports: [{ port: 80 }], type: 'LoadBalancer' },
      loadBalancerSourceRanges: many(48_000, (at) => `${oddOf(at)}/128`),
    },
  })),
  dryRun('16,000 aliases of hosts', `${CORE}/pods`, 201, () =>
    podWith({ hostAliases: many(16_000, (at) => ({ ip: oddOf(at) })) }),
  ),
  ...[
    ['odd', 200, oddOf],
    ['wrong', 422, (at: number) => `x${at}`],
    ['good', 200, addressOf],
  ].map(([what, code, of]) => ({
    ...send(
      `12,000 ${what} addresses of a load balancer`,
      ['PUT', `${CORE}/services/balanced/status`],
      [code as number],
      () => ({
        metadata: { name: 'balanced' },
        status: {
          loadBalancer: {
            ingress: many(12_000, (at) => ({ ip: (of as typeof addressOf)(at), ipMode: 'VIP' })),
          },
        },
      }),
    ),
    before: (cluster: Cluster) =>
      put(cluster, `${CORE}/services`, {
        metadata: { name: 'balanced' },
        spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
      }),
  })),
];

// CBOR.

const ROOM = 3 * 1024 * 1024 - 100;
const SELF = Buffer.of(0xd9, 0xd9, 0xf7);
const cbor = (name: string, content: () => Buffer): HostileRequest => ({
  name: `CBOR: ${name}`,
  method: 'POST',
  path: REVIEW,
  headers: { 'content-type': 'application/cbor' },
  body: () => Buffer.concat([SELF, content()]),
});
const repeated = (bytes: readonly number[], room = ROOM): Buffer =>
  Buffer.alloc(room - (room % bytes.length), Buffer.from(bytes));
const text = (of: string): number[] => [0x60 + of.length, ...Buffer.from(of)];

export const CBOR: readonly HostileRequest[] = [
  cbor('lists nested deep', () => repeated([0x81])),
  cbor('maps nested deep', () => repeated([0xa1, 0x41, 0x61])),
  cbor('tags nested deep', () => repeated([0xc6])),
  cbor('lists without an end', () => repeated([0x9f])),
  cbor('a list that claims to be long', () => Buffer.of(0x9a, 0xff, 0xff, 0xff, 0xff)),
  cbor('a text that claims to be long', () => Buffer.of(0x7b, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff)),
  cbor('empty texts that make one', () =>
    Buffer.concat([Buffer.of(0xa1, 0x61, 0x61, 0x7f), repeated([0x60])]),
  ),
  cbor('letters that make one text', () =>
    Buffer.concat([Buffer.of(0xa1, 0x61, 0x61, 0x7f), repeated([0x61, 0x61], ROOM - 10), Buffer.of(0xff)]),
  ),
  cbor('empty lists', () =>
    Buffer.concat([Buffer.of(0xbf, 0x61, 0x61, 0x9f), repeated([0x80], ROOM - 10), Buffer.of(0xff, 0xff)]),
  ),
  cbor('floating point numbers', () =>
    Buffer.concat([
      Buffer.of(0xbf, 0x61, 0x61, 0x9f),
      repeated([0xf9, 0x3c, 0x01], 145_000),
      Buffer.of(0xff, 0xff),
    ]),
  ),
  cbor('one key repeated', () =>
    Buffer.concat([Buffer.of(0xbf), repeated([0x61, 0x61, 0x01], ROOM - 10), Buffer.of(0xff)]),
  ),
  cbor('unknown fields', () =>
    Buffer.concat([
      Buffer.of(0xbf),
      ...many(24_000, (at) => Buffer.from([...text(`field${at}`), 0x01])),
      Buffer.of(0xff),
    ]),
  ),
  cbor('bytes in place of texts', () =>
    Buffer.concat([Buffer.of(0xa1, 0x61, 0x61, 0x5a, 0, 0x20, 0, 0), Buffer.alloc(0x200000, 0xff)]),
  ),
];
