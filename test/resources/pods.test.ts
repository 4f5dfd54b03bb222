import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { objectAt } from '../../src/object/json-values.ts';
import { podtemplates } from '../../src/resources/core/pod-template.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';
import { varyAll } from '../kit/variations.ts';
import { FULL, SMALL } from './pod-manifests.ts';

/** The mistakes of a small pod with some places changed. */
const bad = (changes: Readonly<Record<string, JsonValue | undefined>>): string[] =>
  problemsOnCreate(pods, varyAll(SMALL, changes));

test.each([
  ['small', SMALL],
  ['full', FULL],
])('a good pod is accepted: %s', (_, manifest) => {
  expect(problemsOnCreate(pods, manifest)).toEqual([]);
});

describe('a pod is refused for', () => {
  const CONTAINER = 'spec.containers.0';
  test.each<[string, Record<string, JsonValue | undefined>, string[]]>([
    [
      'a volume of two kinds',
      { 'spec.volumes': [{ name: 'x', emptyDir: {}, configMap: { name: 'a' } }] },
      ['spec.volumes[0].configMap: Forbidden: may not specify more than 1 volume type'],
    ],
    [
      'two volumes of one name',
      { 'spec.volumes': [{ name: 'x' }, { name: 'x' }] },
      ['spec.volumes[1].name: Duplicate value: "x"'],
    ],
    [
      'a host path that climbs and is of no kind',
      { 'spec.volumes': [{ name: 'x', hostPath: { path: '/a/../b', type: 'Pipe' } }] },
      [
        'spec.volumes[0].hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
        'spec.volumes[0].hostPath.type: Unsupported value: "Pipe": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
      ],
    ],
    [
      'a secret without a name, and a mode that is none',
      { 'spec.volumes': [{ name: 'x', secret: { defaultMode: 9999 } }] },
      [
        'spec.volumes[0].secret.defaultMode: Invalid value: 9999: must be a number between 0 and 0777 (octal), both inclusive',
        'spec.volumes[0].secret.secretName: Required value',
      ],
    ],
    [
      'a short-lived token',
      {
        'spec.serviceAccountName': 'a',
        'spec.volumes': [
          {
            name: 'x',
            projected: { sources: [{ serviceAccountToken: { path: 't', expirationSeconds: 10 } }] },
          },
        ],
      },
      [
        'spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
      ],
    ],
    [
      'a token without an account',
      { 'spec.volumes': [{ name: 'x', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      [
        'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
      ],
    ],
    [
      'a claim template that asks for nothing',
      { 'spec.volumes': [{ name: 'x', ephemeral: { volumeClaimTemplate: { spec: {} } } }] },
      [
        'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required',
        'spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value',
      ],
    ],
    [
      'identities out of range',
      { 'spec.securityContext': { runAsUser: -1, supplementalGroups: [2 ** 31] } },
      [
        'spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive',
        'spec.securityContext.supplementalGroups[0]: Invalid value: 2147483648: must be between 0 and 2147483647, inclusive',
      ],
    ],
    [
      'privileges that are asked for and refused',
      { [`${CONTAINER}.securityContext`]: { privileged: true, allowPrivilegeEscalation: false } },
      [
        'spec.containers[0].securityContext: Invalid value: {"privileged":true,"allowPrivilegeEscalation":false}: cannot set `allowPrivilegeEscalation` to false and `privileged` to true',
      ],
    ],
    [
      'a seccomp profile that is nowhere',
      { 'spec.securityContext': { seccompProfile: { type: 'Localhost' } } },
      [
        'spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost',
      ],
    ],
    [
      'a parameter of the host’s network',
      {
        'spec.hostNetwork': true,
        'spec.securityContext': { sysctls: [{ name: 'net.core.somaxconn', value: '1' }] },
      },
      [
        'spec.securityContext.sysctls[0].name: Invalid value: "net.core.somaxconn": may not be specified when \'hostNetwork\' is true',
      ],
    ],
    [
      'Linux settings on Windows',
      { 'spec.os': { name: 'windows' }, 'spec.securityContext': { runAsUser: 1 } },
      ['spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod'],
    ],
    [
      'an operating system there is not',
      { 'spec.os': { name: 'plan9' } },
      ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
    ],
    [
      'host process containers without the host network',
      { 'spec.securityContext': { windowsOptions: { hostProcess: true } } },
      [
        'spec.hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
      ],
    ],
    [
      'tolerations that tolerate nothing definite',
      {
        'spec.tolerations': [
          { operator: 'Equal' },
          { key: 'a', operator: 'Exists', value: 'b' },
          { key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 },
        ],
      },
      [
        'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
        'spec.tolerations[1].operator: Invalid value: core.Toleration{Key:"a", Operator:"Exists", Value:"b", Effect:"", TolerationSeconds:(*int64)(nil)}: value must be empty when `operator` is \'Exists\'',
        'spec.tolerations[2].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\' when `tolerationSeconds` is set',
      ],
    ],
    [
      'constraints that spread nothing, twice',
      {
        'spec.topologySpreadConstraints': [
          { maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', minDomains: 1 },
          { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
        ],
      },
      [
        'spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero',
        'spec.topologySpreadConstraints[0].minDomains: Invalid value: 1: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ScheduleAnyway',
        'spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{zone, ScheduleAnyway}"',
      ],
    ],
    [
      'affinity without a weight, a key or an operator',
      {
        'spec.affinity': {
          podAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [
              {
                weight: 0,
                podAffinityTerm: {
                  topologyKey: 'zone',
                  labelSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] },
                },
              },
            ],
          },
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        },
      },
      [
        'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term',
        'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
        'spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be in the range 1-100',
      ],
    ],
    [
      'no name server where only its own count',
      { 'spec.dnsPolicy': 'None' },
      ['spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None'],
    ],
    [
      'an alias of no address',
      { 'spec.hostAliases': [{ ip: 'here' }] },
      [
        'spec.hostAliases[0].ip: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      ],
    ],
    [
      'a gate twice, and a node all the same',
      { 'spec.nodeName': 'a', 'spec.schedulingGates': [{ name: 'g' }, { name: 'g' }] },
      [
        'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
        'spec.schedulingGates[1]: Duplicate value: "g"',
      ],
    ],
    [
      'a deadline of no time',
      { 'spec.activeDeadlineSeconds': 0 },
      ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [
      'debugging from the beginning',
      { 'spec.ephemeralContainers': [{ name: 'debug', image: 'busybox' }] },
      ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
    ],
    [
      'a claim that the pod does not have',
      { [`${CONTAINER}.resources`]: { claims: [{ name: 'gpu' }] } },
      [
        'spec.containers[0].resources.claims[0]: Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty',
      ],
    ],
    [
      'annotations that mean nothing',
      {
        'metadata.annotations': {
          'kubernetes.io/config.mirror': 'x',
          'controller.kubernetes.io/pod-deletion-cost': '+1',
        },
      },
      [
        'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+1": must be a 32bit integer',
        'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
      ],
    ],
  ])('%s', (_, changes, problems) => {
    expect(bad(changes)).toEqual(problems);
  });
});

describe('a pod template', () => {
  test('is accepted with all that a pod may have', () => {
    const { metadata, ...pod } = FULL;
    const { name: _, ...kept } = objectAt({ metadata }, 'metadata');
    expect(problemsOnCreate(podtemplates, { template: { ...pod, metadata: kept } })).toEqual([]);
  });

  test('is refused where it stands', () => {
    const template = varyAll(SMALL, {
      'metadata.labels': { a: '?' },
      'spec.containers.0.name': '',
      'spec.ephemeralContainers': [{ name: 'debug', image: 'busybox' }],
    });
    expect(problemsOnCreate(podtemplates, { template })).toEqual([
      "template.labels: Invalid value: \"?\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
      'template.spec.containers[0].name: Required value',
      'template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template',
    ]);
  });

  test('may change as it likes', () => {
    const template = { template: SMALL };
    expect(problemsOnUpdate(podtemplates, template, { template: FULL })).toEqual([]);
  });
});
