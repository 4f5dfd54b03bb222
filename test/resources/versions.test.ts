import { describe, expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { deployments } from '../../src/resources/apps/deployment.ts';
import { horizontalpodautoscalers } from '../../src/resources/autoscaling/horizontal-pod-autoscaler/definition.ts';
import { services } from '../../src/resources/core/service/definition.ts';
import { endpointslices } from '../../src/resources/discovery/endpoint-slice.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { csidrivers } from '../../src/resources/storage/csi-driver.ts';
import { manifestsIn } from '../kit/manifests.ts';

/** Fields that came after 1.31, with the rules that Kubernetes has for them. */

const container = (fields: JsonObject = {}): JsonObject => ({ name: 'c', image: 'i', ...fields });
const pod = (spec: JsonObject): JsonObject => ({ spec: { containers: [container()], ...spec } });
const inContainer = (fields: JsonObject): JsonObject => pod({ containers: [container(fields)] });

const problems = (minor: Minor, definition: ResourceDefinition, manifest: JsonObject, gates = {}): string[] =>
  manifestsIn(minor, gates).problemsOnCreate(definition, manifest);

/** The versions whose servers keep the field of a new object, without flags. */
const keptBy = (definition: ResourceDefinition, manifest: JsonObject, read: (object: ApiObject) => unknown) =>
  MINORS.filter((minor) => read(manifestsIn(minor).created(definition, manifest)) !== undefined);

const specOf = ({ spec }: ApiObject): JsonObject => spec as JsonObject;
const firstContainer = (object: ApiObject): JsonObject =>
  (specOf(object).containers as JsonObject[])[0] ?? {};

const firstHints = ({ endpoints }: ApiObject): JsonObject =>
  (endpoints as JsonObject[])[0]?.hints as JsonObject;

describe('a field exists from its version on, once its gate is on', () => {
  test.each<[string, readonly Minor[], ResourceDefinition, JsonObject, (object: ApiObject) => unknown]>([
    [
      'hostnameOverride',
      [35, 36],
      pods,
      pod({ hostnameOverride: 'a' }),
      (object) => specOf(object).hostnameOverride,
    ],
    [
      'seLinuxChangePolicy',
      [33, 34, 35, 36],
      pods,
      pod({ securityContext: { seLinuxChangePolicy: 'Recursive' } }),
      (object) => (specOf(object).securityContext as JsonObject).seLinuxChangePolicy,
    ],
    [
      'restartPolicyRules',
      [35, 36],
      pods,
      inContainer({ restartPolicyRules: [{ action: 'Restart' }] }),
      (object) => firstContainer(object).restartPolicyRules,
    ],
    [
      'tolerance',
      [35, 36],
      horizontalpodautoscalers,
      { spec: { behavior: { scaleUp: { tolerance: '0.1' } }, scaleTargetRef: {}, maxReplicas: 1 } },
      (object) => ((specOf(object).behavior as JsonObject).scaleUp as JsonObject).tolerance,
    ],
    [
      'forNodes',
      [34, 35, 36],
      endpointslices,
      { addressType: 'IPv4', endpoints: [{ addresses: [], hints: { forNodes: [{ name: 'n' }] } }] },
      (object) => firstHints(object).forNodes,
    ],
    [
      'nodeAllocatableUpdatePeriodSeconds',
      [35, 36],
      csidrivers,
      { spec: { nodeAllocatableUpdatePeriodSeconds: 60 } },
      (object) => specOf(object).nodeAllocatableUpdatePeriodSeconds,
    ],
  ])('%s: %j', (_name, versions, definition, manifest, read) => {
    expect(keptBy(definition, manifest, read)).toEqual(versions);
  });
});

describe('rules', () => {
  const rules = (...list: JsonObject[]): JsonObject =>
    inContainer({ restartPolicy: 'Never', restartPolicyRules: list });
  const IN_3 = { operator: 'In', values: [3] };

  test.each<[string, Minor, ResourceDefinition, JsonObject, readonly string[]]>([
    [
      'a name of 65 letters',
      36,
      pods,
      pod({ hostnameOverride: 'a'.repeat(65) }),
      ['spec.hostnameOverride: Too long'],
    ],
    ['a whole domain name', 36, pods, pod({ hostnameOverride: 'a.example.com' }), []],
    [
      'a name that is none',
      36,
      pods,
      pod({ hostnameOverride: 'A!' }),
      ['spec.hostnameOverride: Invalid value: "A!"'],
    ],
    [
      'a name on the host network',
      36,
      pods,
      pod({ hostnameOverride: 'a', hostNetwork: true }),
      ['spec.hostnameOverride: Forbidden'],
    ],
    [
      'rules without a policy',
      35,
      pods,
      inContainer({ restartPolicyRules: [{ action: 'Restart', exitCodes: IN_3 }] }),
      [
        'spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used',
      ],
    ],
    ['a rule', 35, pods, rules({ action: 'Restart', exitCodes: IN_3 }), []],
    [
      'a rule without codes',
      35,
      pods,
      rules({ action: 'Restart' }),
      ['spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified'],
    ],
    ['a policy of a container', 35, pods, inContainer({ restartPolicy: 'OnFailure' }), []],
    [
      'a policy of a container before',
      33,
      pods,
      inContainer({ restartPolicy: 'OnFailure' }),
      ['spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers'],
    ],
    [
      'a restart of all containers',
      36,
      pods,
      rules({ action: 'RestartAllContainers', exitCodes: { operator: 'NotIn', values: [0] } }),
      [],
    ],
    [
      'an unknown action',
      36,
      pods,
      rules({ action: 'DoNotRestart', exitCodes: IN_3 }),
      [
        'restartPolicyRules[0].action: Unsupported value: "DoNotRestart": supported values: "Restart", "RestartAllContainers"',
      ],
    ],
    [
      'too many rules',
      36,
      pods,
      rules(...Array.from({ length: 21 }, () => ({ action: 'Restart', exitCodes: IN_3 }))),
      ['spec.containers[0].restartPolicyRules: Too many'],
    ],
    [
      'an operator of later',
      31,
      pods,
      pod({ tolerations: [{ key: 'a', operator: 'Gt', value: '1' }] }),
      ['spec.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists"'],
    ],
    ['a node for clients', 34, endpointslices, slice('n'), []],
    ['a node twice', 34, endpointslices, slice('n', 'n'), ['hints.forNodes[1].name: Duplicate value']],
    [
      'nine nodes',
      34,
      endpointslices,
      slice(...'abcdefghi'),
      ['hints.forNodes: Too many: 9: must have at most 8'],
    ],
    ['traffic to the same node', 34, services, service('PreferSameNode'), []],
    ['traffic to the same node before', 33, services, service('PreferSameNode'), ['Unsupported value']],
    [
      'a period of a second',
      35,
      csidrivers,
      { spec: { nodeAllocatableUpdatePeriodSeconds: 1 } },
      [
        'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 1: must be greater than or equal to 10 seconds',
      ],
    ],
    [
      'tokens in secrets without tokens',
      36,
      csidrivers,
      { spec: { serviceAccountTokenInSecrets: true } },
      ['spec.serviceAccountTokenInSecrets: Invalid value: true'],
    ],
    [
      'a negative tolerance',
      35,
      horizontalpodautoscalers,
      autoscaler('-1'),
      ['tolerance: Invalid value: "-1"'],
    ],
    ['a tolerance', 35, horizontalpodautoscalers, autoscaler('0.1'), []],
  ])('%s in 1.%i', (_name, minor, definition, manifest, expected) => {
    const found = problems(minor, definition, manifest);
    expect(found).toHaveLength(expected.length);
    for (const [at, part] of expected.entries()) expect(found[at]).toContain(part);
  });

  test('operators that compare numbers need their gate, and a number', () => {
    const gates = { TaintTolerationComparisonOperators: true };
    const tolerating = (value: string): JsonObject =>
      pod({ tolerations: [{ key: 'a', operator: 'Lt', value }] });
    expect(problems(35, pods, tolerating('5'), gates)).toEqual([]);
    expect(problems(35, pods, tolerating('five'), gates)).toEqual([
      'spec.tolerations[0].value: Invalid value: "five": must be a valid decimal integer in canonical form',
    ]);
    expect(problems(35, pods, tolerating('9223372036854775808'), gates).join()).toContain('out of range');
    expect(problems(35, pods, tolerating('5')).join()).toContain('"Equal", "Exists", "Lt", "Gt"');
  });

  test('a stop signal needs the operating system of the pod', () => {
    const gates = { ContainerStopSignals: true };
    const stopping = (stopSignal: string, spec: JsonObject = {}): JsonObject =>
      pod({ containers: [container({ lifecycle: { stopSignal } })], ...spec });
    expect(problems(33, pods, stopping('SIGUSR1', { os: { name: 'linux' } }), gates)).toEqual([]);
    expect(problems(33, pods, stopping('SIGUSR1'), gates)).toEqual([
      'spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty `spec.os.name`',
    ]);
    const [windows] = problems(33, pods, stopping('SIGUSR1', { os: { name: 'windows' } }), gates);
    expect(windows).toContain('Unsupported value: "SIGUSR1": supported values: "SIGKILL", "SIGTERM"');
  });

  test('a variable from a file needs an emptyDir of the pod', () => {
    const reading = (volume: JsonObject, fields: JsonObject = {}): JsonObject =>
      pod({
        volumes: [{ name: 'v', ...volume }],
        containers: [
          container({
            env: [
              {
                name: 'A',
                valueFrom: { fileKeyRef: { volumeName: 'v', path: 'a.env', key: 'A', ...fields } },
              },
            ],
          }),
        ],
      });
    expect(problems(35, pods, reading({ emptyDir: {} }))).toEqual([]);
    expect(problems(35, pods, reading({ emptyDir: {} }, { path: '../x' }))).toEqual([
      expect.stringContaining('fileKeyRef.path: Invalid value: "../x": must not contain \'..\''),
    ]);
    expect(problems(35, pods, reading({ hostPath: { path: '/x', type: '' } }))).toEqual([
      expect.stringContaining('fileKeyRef.volumeName: Invalid value: "v": must reference an emptyDir volume'),
    ]);
    expect(problems(35, pods, reading({ emptyDir: {} }, { volumeName: 'w' }))).toEqual([
      expect.stringContaining('fileKeyRef.volumeName: Not found: "w"'),
    ]);
  });

  test('the workload of a pod is a reference in 1.35 and a group since 1.36', () => {
    const gates = { GenericWorkload: true };
    const ref = pod({ workloadRef: { name: 'w', podGroup: 'g' } });
    const group = pod({ schedulingGroup: { podGroupName: 'g' } });
    const made = (minor: Minor, manifest: JsonObject): string[] =>
      Object.keys(specOf(manifestsIn(minor, gates).created(pods, manifest)));
    expect(made(35, ref)).toContain('workloadRef');
    expect(made(36, ref)).not.toContain('workloadRef');
    expect(made(36, group)).toContain('schedulingGroup');
    expect(made(35, group)).not.toContain('schedulingGroup');
    expect(problems(36, pods, pod({ schedulingGroup: {} }), gates)).toEqual([
      'spec.schedulingGroup.podGroupName: Invalid value: "null": must specify one of: `podGroupName`',
    ]);
  });

  test('the status of a deployment counts the pods that are about to end', () => {
    const template = { metadata: { labels: { a: 'b' } }, ...pod({}) };
    const manifest = { spec: { selector: { matchLabels: { a: 'b' } }, template } };
    const counting = { before: {}, after: { terminatingReplicas: 2 }, view: undefined };
    expect(manifestsIn(35).problemsOnView(deployments, manifest, counting)).toEqual([]);
  });
});

function slice(...names: string[]): JsonObject {
  const forNodes = names.map((name) => ({ name }));
  return { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], hints: { forNodes } }] };
}

const service = (trafficDistribution: string): JsonObject => ({
  spec: { trafficDistribution, ports: [{ port: 80 }], clusterIP: 'None' },
});

const autoscaler = (tolerance: string): JsonObject => ({
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    maxReplicas: 2,
    behavior: { scaleUp: { tolerance } },
  },
});
