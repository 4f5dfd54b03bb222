import { expect, vi } from 'vitest';
import type { Cluster } from '../../kit/cluster.ts';
import type { HostileRequest } from '../../kit/hostile-request.ts';
import { PATIENCE } from '../../kit/patience.ts';
import { Authority } from '../../kit/pki.ts';
import { CBOR, FIELDS, WARNED } from './newer-fields.ts';
import { CORE, dryRun, expectCode, many, put, send } from './written-requests.ts';

/** Kinds that came after 1.31, and the tables for a server of 1.36. */
const DEVICES = '/apis/resource.k8s.io/v1';
const CLAIMS = `${DEVICES}/namespaces/default/resourceclaims`;
const CERTIFICATES = '/apis/certificates.k8s.io/v1beta1';
const MUTATING = '/apis/admissionregistration.k8s.io/v1';

export const NEWER_FLAGS: readonly string[] = [
  '--emulated-version=1.36',
  '--feature-gates=ClusterTrustBundle=true,PodCertificateRequest=true,CBORServingAndStorage=true,StorageVersionMigrator=true',
  '--runtime-config=certificates.k8s.io/v1beta1=true,storagemigration.k8s.io/v1beta1=true',
];

// Trust bundles: as many certificates as a megabyte holds.

let anchor = Buffer.alloc(0);
const prepareAnchor = async (): Promise<void> => {
  const { pem } = await Authority.create('hostile');
  anchor = Buffer.from(pem.replaceAll(/-----.*-----|\n/g, ''), 'base64');
};

/** The same certificate with another signature: readers of a bundle check none. */
function anchorOf(at: number): string {
  const der = Buffer.from(anchor);
  der.writeUInt32BE(at + 1, der.length - 4);
  return block(der.toString('base64'));
}

const block = (base64: string): string =>
  `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;

function bundleOf(piece: (at: number) => string): object {
  let trustBundle = '';
  for (let at = 0; ; at += 1) {
    const next = piece(at);
    if (trustBundle.length + next.length > 1024 * 1024) break;
    trustBundle += next;
  }
  return { metadata: { name: 'hostile' }, spec: { trustBundle } };
}

const bundle = (name: string, code: number, piece: (at: number) => string): HostileRequest => ({
  ...dryRun(`a trust bundle of ${name}`, `${CERTIFICATES}/clustertrustbundles`, code, () => bundleOf(piece)),
  before: prepareAnchor,
});

const TRUST: readonly HostileRequest[] = [
  bundle('certificates', 201, anchorOf),
  bundle('one certificate repeated', 422, () => anchorOf(0)),
  bundle('blocks that are no certificates', 422, (at) => block(Buffer.from(`${at}`).toString('base64'))),
  bundle('blocks of other types', 422, () => '-----BEGIN A-----\nAAAA\n-----END A-----\n'),
  bundle(
    'blocks with headers',
    422,
    () => '-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----\n',
  ),
  dryRun('a trust bundle of three megabytes', `${CERTIFICATES}/clustertrustbundles`, 422, () => ({
    metadata: { name: 'hostile' },
    spec: { trustBundle: 'A'.repeat(3_000_000) },
  })),
];

const podCertificate = (spec: object): object => ({
  metadata: { name: 'hostile' },
  spec: {
    ...{ signerName: 'example.com/a', podName: 'a', serviceAccountName: 'a', nodeName: 'a' },
    ...{ podUID: 'a', serviceAccountUID: 'a', nodeUID: 'a', maxExpirationSeconds: 86_400 },
    ...spec,
  },
});

const CERTIFICATE_REQUESTS: readonly HostileRequest[] = [
  dryRun(
    'a certificate for a pod, with many annotations',
    `${CERTIFICATES}/namespaces/default/podcertificaterequests`,
    422,
    () =>
      podCertificate({
        unverifiedUserAnnotations: Object.fromEntries(many(24_000, (at) => [`example.com/k${at}`, 'v'])),
      }),
  ),
  dryRun(
    'a certificate for a pod, for a key of two megabytes',
    `${CERTIFICATES}/namespaces/default/podcertificaterequests`,
    422,
    () =>
      podCertificate({
        ...{ pkixPublicKey: 'A'.repeat(1_200_000), proofOfPossession: 'A'.repeat(1_200_000) },
      }),
  ),
  dryRun(
    'a certificate for a pod, for sequences nested deep',
    `${CERTIFICATES}/namespaces/default/podcertificaterequests`,
    422,
    () =>
      podCertificate({
        stubPKCS10Request: Buffer.alloc(10_000, Buffer.of(0x30, 0x80)).toString('base64'),
      }),
  ),
];

// Devices.

const sliceWith = (spec: object): object => ({
  metadata: { name: 'hostile' },
  spec: {
    ...{ driver: 'gpu.example.com', allNodes: true },
    pool: { name: 'p', generation: 1, resourceSliceCount: 1 },
    ...spec,
  },
});

const claimWith = (requests: readonly object[], rest: object = {}): object => ({
  metadata: { name: 'hostile' },
  spec: { devices: { requests, ...rest } },
});

const counters = (count: number): object =>
  Object.fromEntries(many(count, (at) => [`c${at}`, { value: '1' }]));
const asking = (selectors: readonly string[]): object => ({
  exactly: {
    deviceClassName: 'gpu.example.com',
    selectors: selectors.map((expression) => ({ cel: { expression } })),
  },
});
/** Ten kilobytes, all of which are compiled. */
const longSelector = (at: number): string =>
  `device.driver == "d${at}"${' || device.attributes["a.b"].c == 1'.repeat(290)}`;

const consumer = (at: number): object => ({ resource: 'pods', name: `p${at}`, uid: `u${at}` });
const reserved = (count: number): object => ({
  allocation: { devices: { results: [] } },
  reservedFor: many(count, (at) => consumer(at % 256)),
});

async function prepareReserved(cluster: Cluster): Promise<void> {
  await put(cluster, CLAIMS, { metadata: { name: 'reserved', finalizers: ['example.com/kept'] }, spec: {} });
  const status = { metadata: { name: 'reserved' }, status: reserved(256) };
  await expectCode(cluster.request('PUT', `${CLAIMS}/reserved/status`, status), [200, 422]);
  await expectCode(cluster.request('DELETE', `${CLAIMS}/reserved`), [200]);
}

const DEVICE_ROWS: readonly HostileRequest[] = [
  dryRun('a slice of 16,000 devices', `${DEVICES}/resourceslices`, 422, () =>
    sliceWith({ devices: many(16_000, (at) => ({ name: `d${at}` })) }),
  ),
  dryRun(
    'a slice of devices with as many attributes as they may have',
    `${DEVICES}/resourceslices`,
    201,
    () =>
      sliceWith({
        devices: many(128, (at) => ({
          name: `d${at}`,
          attributes: Object.fromEntries(
            many(32, (fact) => [`example.com/a${fact}`, { string: 'x'.repeat(64) }]),
          ),
        })),
      }),
  ),
  dryRun('a slice of a device with 16,000 attributes', `${DEVICES}/resourceslices`, 422, () =>
    sliceWith({
      devices: [
        {
          name: 'd',
          attributes: Object.fromEntries(many(16_000, (at) => [`a${at}`, { version: `1.0.${at}` }])),
        },
      ],
    }),
  ),
  dryRun('a slice of a device with 48,000 values of one attribute', `${DEVICES}/resourceslices`, 422, () =>
    sliceWith({ devices: [{ name: 'd', attributes: { a: { versions: many(48_000, () => 'x') } } }] }),
  ),
  dryRun('a slice of a device with 9,000 taints', `${DEVICES}/resourceslices`, 422, () =>
    sliceWith({ devices: [{ name: 'd', taints: many(9_000, (at) => ({ key: `k${at}`, effect: 'Bad' })) }] }),
  ),
  dryRun('a slice of counters', `${DEVICES}/resourceslices`, 422, () =>
    sliceWith({ sharedCounters: many(8, (at) => ({ name: `s${at}`, counters: counters(1_900) })) }),
  ),
  dryRun('a slice of 6,000 sets of counters', `${DEVICES}/resourceslices`, 422, () =>
    sliceWith({ sharedCounters: many(6_000, (at) => ({ name: `s${at}`, counters: counters(1) })) }),
  ),
  dryRun('a slice of a device on 6,000 kinds of nodes', `${DEVICES}/resourceslices`, 422, () =>
    sliceWith({
      allNodes: undefined,
      nodeSelector: {
        nodeSelectorTerms: many(6_000, () => ({ matchExpressions: [{ key: '!', operator: 'In' }] })),
      },
    }),
  ),
  dryRun('a claim of 6,000 requests', CLAIMS, 422, () =>
    claimWith(many(6_000, (at) => ({ name: `r${at}`, ...asking([]) }))),
  ),
  dryRun('a claim of selectors as long as they may be', CLAIMS, 201, () =>
    claimWith(many(9, (at) => ({ name: `r${at}`, ...asking(many(30, longSelector)) }))),
  ),
  dryRun('a claim of selectors nested deep', CLAIMS, 422, () =>
    claimWith(
      many(32, (at) => ({
        name: `r${at}`,
        ...asking(many(10, () => `${'('.repeat(4_000)}true${')'.repeat(4_000)}`)),
      })),
    ),
  ),
  dryRun('a claim of selectors that cost too much', CLAIMS, 422, () =>
    claimWith(
      many(32, (at) => ({
        name: `r${at}`,
        ...asking(
          many(
            32,
            () =>
              'device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a > b && c > d))))',
          ),
        ),
      })),
    ),
  ),
  dryRun('a claim of 16,000 constraints', CLAIMS, 422, () =>
    claimWith([{ name: 'r', ...asking([]) }], { constraints: many(16_000, () => ({ matchAttribute: '!' })) }),
  ),
  dryRun('a claim with 48,000 names of requests that it has not', CLAIMS, 422, () =>
    claimWith([{ name: 'r', ...asking([]) }], {
      constraints: [{ requests: many(48_000, (at) => `x${at}`) }],
    }),
  ),
  dryRun('a class of devices with 9,000 selectors', `${DEVICES}/deviceclasses`, 422, () => ({
    metadata: { name: 'hostile' },
    spec: { selectors: many(9_000, () => ({ cel: { expression: 'true' } })) },
  })),
  {
    ...send(
      '8,000 consumers of a claim that is being deleted',
      ['PUT', `${CLAIMS}/reserved/status`],
      [422],
      () => ({ metadata: { name: 'reserved' }, status: reserved(8_000) }),
    ),
    before: prepareReserved,
  },
  {
    ...send('5,000 devices that a claim was not given', ['PUT', `${CLAIMS}/given/status`], [422], () => ({
      metadata: { name: 'given' },
      status: {
        devices: many(5_000, (at) => ({
          driver: 'a',
          pool: 'p',
          device: `d${at}`,
          networkData: { ips: ['x'] },
        })),
      },
    })),
    before: (cluster) => put(cluster, CLAIMS, { metadata: { name: 'given' }, spec: {} }),
  },
];

// Policies that change objects.

const policyWith = (name: string, spec: object): { metadata: { name: string }; spec: object } => ({
  metadata: { name },
  spec: {
    reinvocationPolicy: 'IfNeeded',
    matchConstraints: {
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
      ],
      objectSelector: { matchLabels: { policy: name } },
    },
    ...spec,
  },
});

const patch = (expression: string): object => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const apply = (expression: string): object => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});

/** A config map under the policy, once that is in force. */
const under = (
  name: string,
  mutations: readonly object[],
  codes: readonly number[],
  keys: number,
): HostileRequest => ({
  ...send(
    `a config map of ${keys} keys under a policy that ${name}`,
    ['POST', `${CORE}/configmaps?dryRun=All`],
    codes,
    () => mapUnder(name, keys),
  ),
  before: async (cluster) => {
    const policy = policyWith(labelOf(name), { mutations });
    await put(cluster, `${MUTATING}/mutatingadmissionpolicies`, policy);
    await put(cluster, `${MUTATING}/mutatingadmissionpolicybindings`, {
      metadata: { name: labelOf(name) },
      spec: { policyName: labelOf(name) },
    });
    const isInForce = async (): Promise<boolean> => {
      const { code, text } = await cluster.request(
        'POST',
        `${CORE}/configmaps?dryRun=All`,
        mapUnder(name, 2),
      );
      return code !== 201 || text.includes('by-policy');
    };
    await vi.waitFor(async () => expect(await isInForce()).toBe(true), PATIENCE);
  },
});

const labelOf = (name: string): string => name.replaceAll(' ', '-');
const mapUnder = (name: string, keys: number): object => ({
  metadata: { name: 'under', labels: { policy: labelOf(name) } },
  data: Object.fromEntries(many(keys, (at) => [`k${at}`, 'v'])),
});

const MARK = patch('[JSONPatch{op: "add", path: "/metadata/annotations", value: {"by-policy": "x"}}]');

const POLICIES: readonly HostileRequest[] = [
  dryRun('a policy of 8,000 mutations', `${MUTATING}/mutatingadmissionpolicies`, 422, () =>
    policyWith('long', { mutations: many(8_000, () => patch('[]')) }),
  ),
  dryRun('a policy of mutations that build on variables', `${MUTATING}/mutatingadmissionpolicies`, 201, () =>
    policyWith('long', {
      variables: many(100, (at) => ({
        name: `v${at}`,
        expression: at === 0 ? '1' : `variables.v${at - 1} + 1`,
      })),
      mutations: many(50, (at) =>
        patch(`[JSONPatch{op: "add", path: "/data/a", value: string(variables.v${at})}]`),
      ),
    }),
  ),
  ...(
    [
      [8_000, 201],
      [20_000, 422],
    ] as const
  ).map(([values, code]) =>
    dryRun(
      `a policy with a mutation of ${values} values`,
      `${MUTATING}/mutatingadmissionpolicies`,
      code,
      () =>
        policyWith('long', {
          mutations: [apply(`Object{data: {${many(values, (at) => `"k${at}":"v"`).join(',')}}}`)],
        }),
    ),
  ),
  under(
    'compares all keys with all',
    [
      MARK,
      patch(
        '[JSONPatch{op: "add", path: "/data/sum", value: string(object.data.map(a, object.data.map(b, object.data.map(c, a + b + c))).size())}]',
      ),
    ],
    [422, 500, 403],
    20_000,
  ),
  under(
    'makes a patch of every key',
    [patch('object.data.map(k, JSONPatch{op: "replace", path: "/data/" + k, value: "by-policy"})')],
    [201, 403, 422],
    20_000,
  ),
  under(
    'shifts a list with every key',
    [
      patch(
        '[JSONPatch{op: "add", path: "/metadata/finalizers", value: ["by-policy/x"]}] + object.data.map(k, JSONPatch{op: "add", path: "/metadata/finalizers/0", value: "a.b/" + k})',
      ),
    ],
    [201, 403, 422, 500],
    20_000,
  ),
  under(
    'copies all with every key',
    [
      MARK,
      patch('object.data.map(k, JSONPatch{op: "copy", from: "/data", path: "/metadata/annotations/" + k})'),
    ],
    [201, 403, 422, 500],
    2_000,
  ),
  under(
    'changes it twenty times',
    many(20, (at) => apply(`Object{metadata: Object.metadata{annotations: {"by-policy": "${at}"}}}`)),
    [201],
    20_000,
  ),
];

export const NEWER_KINDS: readonly (readonly [string, readonly HostileRequest[]])[] = [
  ['trust bundles', TRUST],
  ['certificates of pods', CERTIFICATE_REQUESTS],
  ['devices', DEVICE_ROWS],
  ['policies that change objects', POLICIES],
  ['newer fields', FIELDS],
  ['addresses that are warned of', WARNED],
  ['CBOR', CBOR],
];
