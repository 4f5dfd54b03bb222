import { describe, expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { manifestsIn } from '../kit/manifests.ts';
import { varyAll } from '../kit/variations.ts';

const POD: JsonObject = {
  spec: {
    restartPolicy: 'Never',
    initContainers: [{ name: 'first', image: 'i' }],
    containers: [
      {
        name: 'main',
        image: 'i',
        resources: {
          requests: { cpu: '1', 'example.com/gpu': '1' },
          limits: { 'example.com/gpu': '1' },
          claims: [{ name: 'net' }, { name: 'disk', request: 'fast' }],
        },
      },
    ],
    resourceClaims: [
      { name: 'net', resourceClaimName: 'n' },
      { name: 'disk', resourceClaimName: 'd' },
    ],
  },
};

interface Setting {
  readonly minor?: Minor;
  readonly gates?: Readonly<Record<string, boolean>>;
  readonly pod?: JsonObject;
}

/** What is wrong with a change of a pod's status. */
const problems = (
  before: JsonObject,
  after: JsonObject,
  { minor = 36, gates = {}, pod = POD }: Setting = {},
): string[] =>
  manifestsIn(minor, gates)
    .problemsOnView(pods, pod, { before, after, view: undefined })
    .filter((line) => line.startsWith('status.'));

const HAS_ENDED = 'Forbidden: may not be transitioned to non-terminated state';

describe('a container that ended', () => {
  const withRules = (action: string, more: Record<string, JsonValue> = {}): JsonObject =>
    varyAll(POD, {
      'spec.containers.0.restartPolicy': 'Never',
      'spec.containers.0.restartPolicyRules': [{ action, exitCodes: { operator: 'In', values: [42] } }],
      ...more,
    });
  const statuses = (state: JsonObject, list = 'containerStatuses', name = 'main'): JsonObject => ({
    [list]: [{ name, state }],
  });
  const revive = (exitCode: number, setting: Setting): string[] =>
    problems(statuses({ terminated: { exitCode } }), statuses({ running: {} }), setting);
  const refused = [`status.containerStatuses[0].state: ${HAS_ENDED}`];
  const onFailure = varyAll(POD, { 'spec.containers.0.restartPolicy': 'OnFailure' });

  test.each<[string, number, Setting, string[]]>([
    ['the policy of the pod alone', 42, {}, refused],
    ['a rule that matches', 42, { pod: withRules('Restart') }, []],
    ['a rule that does not match', 1, { pod: withRules('Restart') }, refused],
    ['a rule in 1.34, where the feature is off', 42, { pod: withRules('Restart'), minor: 34 }, refused],
    ['its own policy', 1, { pod: onFailure }, []],
    ['its own policy, without a failure', 0, { pod: onFailure }, refused],
    [
      'a rule for codes that are not listed',
      1,
      {
        pod: withRules('Restart', {
          'spec.containers.0.restartPolicyRules': [
            { action: 'Restart', exitCodes: { operator: 'NotIn', values: [42] } },
          ],
        }),
      },
      [],
    ],
  ])('is started again by %s: %i', (_, exitCode, setting, expected) => {
    expect(revive(exitCode, setting)).toEqual(expected);
  });

  test('is started again with all others', () => {
    const ended = (name: string, exitCode: number) => ({ name, state: { terminated: { exitCode } } });
    const before = {
      initContainerStatuses: [ended('first', 0)],
      containerStatuses: [ended('main', 42)],
    };
    const after = {
      initContainerStatuses: [{ name: 'first', state: { running: {} } }],
      containerStatuses: [{ name: 'main', state: { waiting: {} } }],
    };
    const pod = withRules('RestartAllContainers');
    const gates = { RestartAllContainersOnContainerExits: true };
    expect(problems(before, after, { pod, gates })).toEqual([]);
    expect(
      problems(before, after, { pod, gates: { ...gates, RestartAllContainersOnContainerExits: false } }),
    ).toEqual([
      `status.containerStatuses[0].state: ${HAS_ENDED}`,
      `status.initContainerStatuses[0].state: ${HAS_ENDED}`,
    ]);
  });

  test('for debugging stays so', () => {
    const list = 'ephemeralContainerStatuses';
    const pod = varyAll(POD, { 'spec.restartPolicy': 'Always' });
    expect(
      problems(
        statuses({ terminated: { exitCode: 1 } }, list, 'debug'),
        statuses({ running: {} }, list, 'debug'),
        { pod },
      ),
    ).toEqual([`status.ephemeralContainerStatuses[0].state: ${HAS_ENDED}`]);
  });
});

test('a bound pod is nominated for no node since 1.35', () => {
  const bound = varyAll(POD, { 'spec.nodeName': 'n' });
  const counts = MINORS.map(
    (minor) => problems({}, { nominatedNodeName: 'm' }, { minor, pod: bound }).length,
  );
  expect(counts).toEqual([0, 0, 0, 0, 1, 1]);
  expect(problems({}, { nominatedNodeName: 'm' }, { pod: bound })).toEqual([
    'status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node',
  ]);
  expect(problems({ nominatedNodeName: 'm' }, { nominatedNodeName: 'm' }, { pod: bound })).toEqual([]);
  expect(problems({ nominatedNodeName: 'm' }, {}, { pod: bound })).toEqual([]);
});

test.each<[string, JsonObject, JsonObject, string[]]>([
  [
    'another class of service',
    { qosClass: 'Burstable' },
    { qosClass: 'Guaranteed' },
    ['status.qosClass: Invalid value: "Guaranteed": field is immutable'],
  ],
  ['no class of service', { qosClass: 'Burstable' }, {}, []],
  [
    'a negative generation',
    {},
    { observedGeneration: -1 },
    ['status.observedGeneration: Invalid value: -1: must be a non-negative integer'],
  ],
  [
    'a negative generation of a condition',
    {},
    { conditions: [{ type: 'Ready', status: 'True', observedGeneration: -1 }] },
    ['status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer'],
  ],
])('%s is judged', (_, before, after, lines) => {
  expect(problems(before, after)).toEqual(lines);
});

describe('the health of devices', () => {
  const health = (name: string): JsonObject => ({
    containerStatuses: [
      {
        name: 'main',
        allocatedResourcesStatus: [{ name, resources: [{ resourceID: '1', health: 'Healthy' }] }],
      },
    ],
  });
  const at = 'status.containerStatuses[0].allocatedResourcesStatus[0].name';

  test.each<[string, string[], Minor?]>([
    ['example.com/gpu', []],
    ['claim:net', []],
    ['claim:disk/fast', []],
    [
      'claim:disk',
      [
        `${at}: Invalid value: "claim:disk": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty`,
      ],
    ],
    ['memory', [`${at}: Invalid value: "memory": must match one of the container's resource requests`]],
    [
      'claim:net',
      [`${at}: Invalid value: "claim:net": must match one of the container's resource requirements`],
      31,
    ],
  ])('%s is judged', (name, lines, minor = 36) => {
    const gates = { ResourceHealthStatus: true, DynamicResourceAllocation: true };
    expect(problems({}, health(name), { minor, gates })).toEqual(lines);
  });
});

describe('the claim for extended resources', () => {
  const MAPPING = { containerName: 'main', resourceName: 'example.com/gpu', requestName: 'gpu' };
  const claim = (changes: Record<string, JsonValue | undefined>): JsonObject => ({
    extendedResourceClaimStatus: varyAll({ resourceClaimName: 'c', requestMappings: [MAPPING] }, changes),
  });
  const at = 'status.extendedResourceClaimStatus';

  test.each<[Record<string, JsonValue | undefined>, string[]]>([
    [{}, []],
    [
      { 'requestMappings.0.containerName': 'other' },
      [
        `${at}.requestMappings[0].containerName: Invalid value: "other": must match the name of an entry in spec.initContainers.name or spec.containers.name`,
      ],
    ],
    [
      { 'requestMappings.0.resourceName': 'memory' },
      [
        `${at}.requestMappings[0].resourceName: Invalid value: "memory": must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests`,
      ],
    ],
    [
      { 'requestMappings.1': MAPPING },
      [
        `${at}.requestMappings[1].containerName: Duplicate value: "main"`,
        `${at}.requestMappings[1].requestName: Duplicate value: "gpu"`,
        `${at}.requestMappings[1].resourceName: Duplicate value: "example.com/gpu"`,
      ],
    ],
    [
      { requestMappings: [] },
      [`${at}.requestMappings: Required value: at least one request mapping is required`],
    ],
    [{ resourceClaimName: '' }, [`${at}.resourceClaimName: Required value`]],
  ])('%o is judged', (changes, lines) => {
    expect(problems({}, claim(changes))).toEqual(lines);
  });

  test('is dropped while the feature is off', () => {
    expect(problems({}, claim({ resourceClaimName: '' }), { minor: 35 })).toEqual([]);
  });
});

describe('a status since 1.31', () => {
  const container = (more: JsonObject): JsonObject => ({ containerStatuses: [{ name: 'main', ...more }] });
  const claimed = (more: JsonObject): JsonObject => ({
    nodeAllocatableResourceClaimStatuses: [
      { resourceClaimName: 'n', containers: ['main'], resources: { cpu: '1' }, ...more },
    ],
  });
  const healthy = (message: string): JsonObject =>
    container({
      allocatedResourcesStatus: [
        { name: 'example.com/gpu', resources: [{ resourceID: 'a', health: 'Healthy', message }] },
      ],
    });
  const gates = {
    ...{ DRANodeAllocatableResources: true, ImageVolumeWithDigest: true, ResourceHealthStatusMessage: true },
    ...{ SupplementalGroupsPolicy: true },
  };
  const mounted = (imageRef: string): JsonObject =>
    container({ volumeMounts: [{ name: 'v', mountPath: '/v', volumeStatus: { image: { imageRef } } }] });
  const twice = { podIP: '10.0.0.1', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }, { ip: 'fd00::1' }] };

  test.each<[Minor, JsonObject, string[]]>([
    [36, claimed({}), []],
    [
      36,
      claimed({ resourceClaimName: 'other' }),
      ['nodeAllocatableResourceClaimStatuses[0].resourceClaimName: Invalid value: "other": no mapping found'],
    ],
    [36, claimed({ containers: [] }), ['nodeAllocatableResourceClaimStatuses[0].containers: Required value']],
    [
      36,
      claimed({ resources: { 'example.com/a': '1' } }),
      ['nodeAllocatableResourceClaimStatuses[0].resources[example.com/a]: Invalid value'],
    ],
    [
      36,
      claimed({ resources: { cpu: '-1' } }),
      ['nodeAllocatableResourceClaimStatuses[0].resources[cpu]: Invalid value: "-1": must be non-negative'],
    ],
    [36, healthy('fine'), []],
    [36, healthy(''), ['resources[0].message: Required value: must be non-empty if specified']],
    [36, healthy('x'.repeat(1025)), ['resources[0].message: Too long']],
    [36, mounted('i@sha256:0'), []],
    [36, mounted('x'.repeat(257)), ['volumeMounts[0].volumeStatus.imageVolumeStatus.imageRef: Too long']],
    [
      35,
      { resourceClaimStatuses: [{ name: 'net', resourceClaimName: 'A' }] },
      ['resourceClaimStatuses[0].name: Invalid value: "A"'],
    ],
    [
      36,
      { resourceClaimStatuses: [{ name: 'net', resourceClaimName: 'A' }] },
      ['resourceClaimStatuses[0].resourceClaimName: Invalid value: "A"'],
    ],
    [32, container({ user: { linux: { uid: -1 } } }), ['containerStatuses[0].linux.uid: Invalid value: -1']],
    [
      33,
      container({ user: { linux: { uid: -1 } } }),
      ['containerStatuses[0].user.linux.uid: Invalid value: -1'],
    ],
    [32, twice, ['podIPs: Invalid value', 'podIPs[2]: Duplicate value']],
    [33, twice, ['podIPs: Invalid value']],
    [35, { podIPs: [{ ip: '010.0.0.1' }] }, []],
    [36, { podIPs: [{ ip: '010.0.0.1' }] }, ['podIPs[0]: Invalid value: "010.0.0.1"']],
  ])('1.%d: %j', (minor, after, lines) => {
    expect(problems({}, after, { minor, gates })).toEqual(lines.map((line) => expect.stringContaining(line)));
  });

  test('an address that is stored is not judged again', () => {
    const status = { podIPs: [{ ip: '010.0.0.1' }] };
    expect(problems(status, status, { minor: 36 })).toEqual([]);
  });

  test('a rule that restarts all containers lets each of them come back', () => {
    const pod = varyAll(POD, {
      'spec.containers.0.restartPolicy': 'Never',
      'spec.containers.0.restartPolicyRules': [
        { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [42] } },
      ],
    });
    const first = (state: JsonObject): JsonObject => ({ initContainerStatuses: [{ name: 'first', state }] });
    const setting = {
      pod,
      gates: { ContainerRestartRules: true, RestartAllContainersOnContainerExits: true },
    };
    expect(problems(first({ terminated: { exitCode: 0 } }), first({ running: {} }), setting)).toEqual([]);
  });
});
