import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/api/object-meta.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { problemsOnCreate } from '../kit/manifests.ts';
import { varyAll } from '../kit/variations.ts';
import { SMALL } from './pod-manifests.ts';

const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** The mistakes of a small pod with some places changed. */
const bad = (changes: Readonly<Record<string, JsonValue | undefined>>): string[] =>
  problemsOnCreate(pods, varyAll(SMALL, changes));

describe('a pod is refused for a container with', () => {
  const CONTAINER = 'spec.containers.0';
  test.each<[string, Record<string, JsonValue | undefined>, string[]]>([
    ['no containers', { 'spec.containers': [] }, ['spec.containers: Required value']],
    [
      'a container without a name',
      { [`${CONTAINER}.name`]: undefined },
      ['spec.containers[0].name: Required value'],
    ],
    [
      'a bad container name',
      { [`${CONTAINER}.name`]: 'A_b' },
      [`spec.containers[0].name: Invalid value: "A_b": ${LABEL}`],
    ],
    ['no image', { [`${CONTAINER}.image`]: undefined }, ['spec.containers[0].image: Required value']],
    [
      'spaces around the image',
      { [`${CONTAINER}.image`]: ' nginx' },
      ['spec.containers[0].image: Invalid value: " nginx": must not have leading or trailing whitespace'],
    ],
    [
      'two containers of one name',
      { 'spec.initContainers': [{ name: 'main', image: 'x' }] },
      ['spec.initContainers[0].name: Duplicate value: "main"'],
    ],
    [
      'an unknown pull policy',
      { [`${CONTAINER}.imagePullPolicy`]: 'Sometimes' },
      [
        'spec.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
      ],
    ],
    [
      'an unknown restart policy',
      { 'spec.restartPolicy': 'Often' },
      ['spec.restartPolicy: Unsupported value: "Often": supported values: "Always", "OnFailure", "Never"'],
    ],
    [
      'a restart policy of a container that is no init container',
      { [`${CONTAINER}.restartPolicy`]: 'Always' },
      ['spec.containers[0].restartPolicy: Forbidden: may not be set for non-init containers'],
    ],
    [
      'a probe of an init container that ends',
      { 'spec.initContainers': [{ name: 'a', image: 'x', livenessProbe: { exec: { command: ['true'] } } }] },
      [
        'spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always',
      ],
    ],
    [
      'a port out of range and a name that is none',
      { [`${CONTAINER}.ports`]: [{ containerPort: 70000, name: 'Http' }] },
      [
        'spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.containers[0].ports[0].name: Invalid value: "Http": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
      ],
    ],
    [
      'a port without a number',
      { [`${CONTAINER}.ports`]: [{}] },
      ['spec.containers[0].ports[0].containerPort: Required value'],
    ],
    [
      'the same host port twice',
      {
        [`${CONTAINER}.ports`]: [
          { containerPort: 80, hostPort: 80 },
          { containerPort: 81, hostPort: 80 },
        ],
      },
      ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"'],
    ],
    [
      'a host port that differs on the host network',
      { 'spec.hostNetwork': true, [`${CONTAINER}.ports`]: [{ containerPort: 80, hostPort: 81 }] },
      [
        'spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true',
      ],
    ],
    [
      'a variable with a value and a source',
      {
        [`${CONTAINER}.env`]: [
          { name: 'A', value: '1', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
      },
      [
        'spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
      ],
    ],
    [
      'a source that says nothing',
      { [`${CONTAINER}.env`]: [{ name: 'A', valueFrom: {} }] },
      [
        'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
      ],
    ],
    [
      'a field that is not offered',
      { [`${CONTAINER}.env`]: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.phase' } } }] },
      [
        'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Unsupported value: "status.phase": supported values: "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"',
      ],
    ],
    [
      'a field that does not exist',
      { [`${CONTAINER}.env`]: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.color' } } }] },
      [
        'spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.color": error converting fieldPath: field label not supported: spec.color',
      ],
    ],
    [
      'no source of many variables',
      { [`${CONTAINER}.envFrom`]: [{ prefix: 'A' }] },
      ['spec.containers[0].envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    ],
    [
      'a request above its limit',
      { [`${CONTAINER}.resources`]: { limits: { cpu: '1' }, requests: { cpu: '2' } } },
      [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    ],
    [
      'an unknown resource',
      { [`${CONTAINER}.resources`]: { limits: { color: '1' } } },
      ['limits', 'requests'].flatMap((list) => [
        `spec.containers[0].resources.${list}[color]: Invalid value: "color": must be a standard resource for containers`,
        `spec.containers[0].resources.${list}[color]: Invalid value: "color": must be a standard resource type or fully qualified`,
      ]),
    ],
    [
      'half a device, less than the limit',
      {
        [`${CONTAINER}.resources`]: {
          limits: { 'nvidia.com/gpu': '1' },
          requests: { 'nvidia.com/gpu': '500m' },
        },
      },
      [
        'spec.containers[0].resources.requests: Invalid value: "500m": must be equal to nvidia.com/gpu limit of 1',
        'spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: "500m": must be an integer',
      ],
    ],
    [
      'huge pages alone',
      { [`${CONTAINER}.resources`]: { limits: { 'hugepages-2Mi': '2Mi' } } },
      ['spec.containers[0].resources: Forbidden: HugePages require cpu or memory'],
    ],
    [
      'a negative amount',
      { [`${CONTAINER}.resources`]: { requests: { memory: '-1' } } },
      [
        'spec.containers[0].resources.requests[memory]: Invalid value: "-1": must be greater than or equal to 0',
      ],
    ],
    [
      'a probe without a way to probe',
      { [`${CONTAINER}.livenessProbe`]: { periodSeconds: 5 } },
      ['spec.containers[0].livenessProbe: Required value: must specify a handler type'],
    ],
    [
      'a probe with two ways, a wrong threshold and a negative period',
      {
        [`${CONTAINER}.livenessProbe`]: {
          exec: { command: ['a'] },
          tcpSocket: { port: 1 },
          successThreshold: 2,
          periodSeconds: -1,
        },
      },
      [
        'spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1',
        'spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type',
      ],
    ],
    [
      'a readiness probe that ends the container',
      { [`${CONTAINER}.readinessProbe`]: { exec: { command: ['a'] }, terminationGracePeriodSeconds: 1 } },
      [
        'spec.containers[0].readinessProbe.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes',
      ],
    ],
    [
      'a hook that sleeps longer than there is time',
      { [`${CONTAINER}.lifecycle`]: { preStop: { sleep: { seconds: 60 } } } },
      [
        'spec.containers[0].lifecycle.preStop.sleep: Invalid value: 60: must be greater than 0 and less than terminationGracePeriodSeconds (30)',
      ],
    ],
    [
      'a mount of no volume',
      { [`${CONTAINER}.volumeMounts`]: [{ name: 'x', mountPath: '/x' }] },
      ['spec.containers[0].volumeMounts[0].name: Not found: "x"'],
    ],
    [
      'two mounts in one place, one of them outside of its volume',
      {
        'spec.volumes': [{ name: 'x' }],
        [`${CONTAINER}.volumeMounts`]: [
          { name: 'x', mountPath: '/x' },
          { name: 'x', mountPath: '/x', subPath: '../y' },
        ],
      },
      [
        'spec.containers[0].volumeMounts.subPath: Invalid value: "../y": must not contain \'..\'',
        'spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/x": must be unique',
      ],
    ],
    [
      'a block device of a directory',
      {
        'spec.volumes': [{ name: 'x' }],
        [`${CONTAINER}.volumeDevices`]: [{ name: 'x', devicePath: '/dev/x' }],
      },
      [
        'spec.containers[0].volumeDevices[0].name: Invalid value: "x": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
      ],
    ],
  ])('%s', (_, changes, problems) => {
    expect(bad(changes)).toEqual(problems);
  });
});
