import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { persistentvolumes } from '../../src/resources/core/persistent-volume/definition.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { manifestsIn } from '../kit/manifests.ts';

/** Rules of pods that a version changed: what the version before answers, and what it answers. */

const GATES = {
  ...{ ContainerRestartRules: true, RestartAllContainersOnContainerExits: false, HostnameOverride: true },
  ...{ PodLevelResources: true, UserNamespacesSupport: true, ImageVolume: true },
  DynamicResourceAllocation: true,
};

const main = { name: 'main', image: 'i' };
const pod = (container: JsonObject, more: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ ...main, ...container }], ...more },
});
const init = (container: JsonObject): JsonObject =>
  pod({}, { initContainers: [{ name: 'first', image: 'i', ...container }] });
const rule = { action: 'Restart', exitCodes: { operator: 'In', values: [42] } };
const near = (value: string): JsonObject => {
  const nodeSelectorTerms = [{ matchExpressions: [{ key: 'a', operator: 'In', values: [value] }] }];
  return pod(
    {},
    { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } },
  );
};
const volume = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] });

test.each<[Minor, string, JsonObject, before: string[], since: string[]]>([
  [
    32,
    'static pods have no claims',
    {
      metadata: { annotations: { 'kubernetes.io/config.mirror': 'a' } },
      ...pod({}, { nodeName: 'n', resourceClaims: [{ name: 'r', resourceClaimName: 'c' }] }),
    },
    [],
    ['[]: Forbidden: static pods do not support resource claims'],
  ],
  [
    33,
    'values of nodes are values of labels',
    near('a b'),
    [],
    [
      'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: "a b"',
    ],
  ],
  [
    33,
    'a part of an image can be mounted',
    pod(
      { volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'a' }] },
      volume({ image: { reference: 'i' } }),
    ),
    ['spec.containers[0].volumeMounts[0].subPath: Invalid value: "a": not allowed in image volume sources'],
    [],
  ],
  [
    34,
    'block devices need the users of the host',
    pod(
      { volumeDevices: [{ name: 'v', devicePath: '/v' }] },
      { hostUsers: false, ...volume({ persistentVolumeClaim: { claimName: 'c' } }) },
    ),
    [],
    ['spec.containers[0].volumeDevices: Forbidden: when `hostUsers` is false'],
  ],
  [
    34,
    'pods as a whole may be silent about what their containers request',
    pod(
      { resources: { requests: { memory: '1Gi', 'ephemeral-storage': '1Gi' } } },
      { resources: { requests: { cpu: '1' } } },
    ),
    [
      'spec.resources.requests[ephemeral-storage]: Invalid value: "0": must be greater than or equal to aggregate container requests of 1Gi',
      'spec.resources.requests[memory]: Invalid value: "0": must be greater than or equal to aggregate container requests of 1Gi',
    ],
    [],
  ],
  [
    34,
    'pods of Windows state nothing as a whole',
    pod({}, { os: { name: 'windows' }, resources: { requests: { cpu: '1' } } }),
    [],
    ['spec.resources: Forbidden: may not be set for a windows pod'],
  ],
  [
    36,
    'a container that ends is not started again for its resources',
    init({ resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
    [],
    [
      'spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be set to \'RestartContainer\' for non-sidecar initContainers',
    ],
  ],
  [
    36,
    'a list of rules has too many',
    pod({ restartPolicy: 'Never', restartPolicyRules: Array(21).fill(rule) }),
    ['spec.containers[0].restartPolicyRules: Too long: '],
    ['spec.containers[0].restartPolicyRules: Too many: 21'],
  ],
])('since 1.%d: %s', (minor, _, manifest, before, since) => {
  const answer = (version: number): string[] =>
    manifestsIn(version as Minor, GATES).problemsOnCreate(pods, manifest);
  expect(answer(minor - 1)).toEqual(before.map((line) => expect.stringContaining(line)));
  expect(answer(minor)).toEqual(since.map((line) => expect.stringContaining(line)));
});

test.each<[JsonObject, string[]]>([
  [
    pod({}, { hostnameOverride: 'a', setHostnameAsFQDN: true }),
    ['spec.hostnameOverride: Forbidden: may not be set when `setHostnameAsFQDN` is true'],
  ],
  [
    init({ restartPolicy: 'Always', restartPolicyRules: [rule] }),
    [
      'spec.initContainers[0].restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init containers with restart policy Always',
    ],
  ],
  [init({ restartPolicy: 'Never', restartPolicyRules: [rule] }), []],
  [
    pod({
      restartPolicy: 'Never',
      restartPolicyRules: [{ ...rule, exitCodes: { operator: 'In', values: [1, 1] } }],
    }),
    [],
  ],
  [
    pod(
      { resources: { requests: { cpu: '1', 'hugepages-2Mi': '4Mi' }, limits: { 'hugepages-2Mi': '4Mi' } } },
      {
        resources: {
          requests: { cpu: '1', 'hugepages-2Mi': '2Mi' },
          limits: { 'hugepages-2Mi': '2Mi' },
        },
      },
    ),
    [
      'spec.resources.containers[0][hugepages-2Mi].limits: Invalid value: "4Mi"',
      'spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi',
      'spec.resources.requests[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container requests of 4Mi',
    ],
  ],
])('in 1.36, %j', (manifest, lines) => {
  const answers = manifestsIn(36, GATES).problemsOnCreate(pods, manifest);
  expect(answers).toEqual(lines.map((line) => expect.stringContaining(line)));
});

test('values of nodes that were stored before stay, in pods and in volumes', () => {
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['a b'] }] }],
  };
  const persistent = {
    spec: {
      ...{ capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], local: { path: '/v' } },
      nodeAffinity: { required },
    },
  };
  for (const [definition, manifest] of [
    [pods, near('a b')],
    [persistentvolumes, persistent],
  ] as const) {
    const stored = manifestsIn(36).created(definition, manifest);
    const isOn = Object.assign(() => false, { minor: 36 as const });
    const changed = { ...stored, spec: { ...(stored.spec as JsonObject), activeDeadlineSeconds: 5 } };
    const judge = (old?: typeof stored): string[] =>
      (definition.strategy.validate?.(changed, old, isOn) ?? []).map(({ field }) => field);
    expect(judge()).toEqual([expect.stringMatching(/values\[0\]$/)]);
    expect(judge(stored)).toEqual([]);
  }
});
