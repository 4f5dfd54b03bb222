import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/api/object-meta.ts';
import { pods } from '../../src/resources/pod/definition.ts';
import { created } from '../kit/manifests.ts';
import { varyAll } from '../kit/variations.ts';
import { SMALL } from './pod-manifests.ts';

describe('a caller is warned of', () => {
  const warnings = (changes: Readonly<Record<string, JsonValue>>): string[] =>
    pods.strategy.warnings?.(created(pods, varyAll(SMALL, changes)), undefined) ?? [];

  test('nothing in a good pod', () => {
    expect(pods.strategy.warnings?.(created(pods, SMALL), undefined)).toEqual([]);
  });

  test.each<[string, Record<string, JsonValue>, string[]]>([
    [
      'a name that is no host name',
      { 'metadata.name': 'a.b' },
      [
        `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]`,
      ],
    ],
    [
      'labels of nodes that have new names',
      { 'spec.nodeSelector': { 'beta.kubernetes.io/os': 'linux' } },
      ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [
      'volumes that are no more',
      { 'spec.volumes': [{ name: 'a', gitRepo: { repository: 'x' } }] },
      ['spec.volumes[0].gitRepo: deprecated in v1.11'],
    ],
    [
      'variables that hide others',
      {
        'spec.containers.0.env': [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
          { name: 'A', value: '$(A)3' },
        ],
      },
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'parts of bytes',
      { 'spec.containers.0.resources': { requests: { memory: '100m' } } },
      [
        'spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer',
      ],
    ],
    [
      'ports that are there twice',
      { 'spec.containers.0.ports': [{ containerPort: 80 }, { containerPort: 80, name: 'b' }] },
      ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
    ],
    [
      'affinity to nothing',
      {
        'spec.affinity': {
          podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'zone' }] },
        },
      },
      [
        'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
      ],
    ],
  ])('%s', (_, changes, texts) => {
    expect(warnings(changes)).toEqual(texts);
  });
});

describe('the line of a pod', () => {
  const NOW = Date.parse('2024-01-01T00:10:00Z');
  const line = (status: JsonObject, changes: Readonly<Record<string, JsonValue>> = {}) => {
    const pod = { ...created(pods, varyAll(SMALL, changes)), status };
    return pods.cells(pod, NOW).slice(1, 4);
  };
  const ready = { name: 'main', ready: true, restartCount: 0, state: { running: {} } };
  const INIT = {
    'spec.initContainers': [
      { name: 'a', image: 'a' },
      { name: 'b', image: 'b', restartPolicy: 'Always' },
    ],
  };

  test.each<[string, JsonObject, Record<string, JsonValue>, unknown[]]>([
    ['pending', { phase: 'Pending' }, {}, ['0/1', 'Pending', '0']],
    [
      'gated',
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] },
      {},
      ['0/1', 'SchedulingGated', '0'],
    ],
    ['running', { phase: 'Running', containerStatuses: [ready] }, {}, ['1/1', 'Running', '0']],
    [
      'crashing',
      {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'main',
            restartCount: 3,
            state: { waiting: { reason: 'CrashLoopBackOff' } },
            lastState: { terminated: { finishedAt: '2024-01-01T00:05:00Z' } },
          },
        ],
      },
      {},
      ['0/1', 'CrashLoopBackOff', '3 (5m ago)'],
    ],
    [
      'at its second init container, which counts',
      {
        phase: 'Pending',
        initContainerStatuses: [
          { name: 'a', restartCount: 2, state: { terminated: { exitCode: 0 } } },
          { name: 'b', restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } },
        ],
      },
      INIT,
      ['0/2', 'Init:1/2', '2'],
    ],
    [
      'running with one beside it, whose restarts count',
      {
        phase: 'Running',
        initContainerStatuses: [
          { name: 'a', restartCount: 2, state: { terminated: { exitCode: 0 } } },
          { name: 'b', restartCount: 1, ready: true, started: true, state: { running: {} } },
        ],
        containerStatuses: [ready],
      },
      INIT,
      ['2/2', 'Running', '1'],
    ],
    [
      'ended by a signal',
      {
        phase: 'Failed',
        containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 137, signal: 9 } } }],
      },
      {},
      ['0/1', 'Signal:9', '0'],
    ],
  ])('%s', (_, status, changes, cells) => {
    expect(line(status, changes)).toEqual(cells);
  });

  test('says that a pod is on its way out, unless it is out already', () => {
    const gone = (phase: string) => {
      const pod = { ...created(pods, SMALL), status: { phase } };
      pod.metadata.deletionTimestamp = '2024-01-01T00:00:00Z';
      return pods.cells(pod, NOW)[2];
    };
    expect([gone('Running'), gone('Succeeded')]).toEqual(['Terminating', 'Succeeded']);
  });
});
