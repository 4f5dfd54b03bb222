import { describe, expect, test } from 'vitest';
import { leases } from '../../src/resources/coordination/lease.ts';
import { alphaLeaseCandidates, leasecandidates } from '../../src/resources/coordination/lease-candidate.ts';
import { runtimeclasses } from '../../src/resources/node/runtime-class.ts';
import { priorityclasses } from '../../src/resources/scheduling/priority-class.ts';
import { manifestsIn, problemsOnCreate, problemsOnUpdate } from '../kit/manifests.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Priorities and runtimes of pods; who leads. */

describe('priority classes', () => {
  const good = { value: 1000, globalDefault: true, description: 'x' };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(priorityclasses, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { value: 1000000001 },
      ['value: Forbidden: maximum allowed value of a user defined priority is 1000000000'],
    ],
    [
      { preemptionPolicy: 'Sometimes' },
      ['preemptionPolicy: Unsupported value: "Sometimes": supported values: "Never", "PreemptLowerPriority"'],
    ],
    [
      { metadata: { name: 'system-mine' } },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class",
      ],
    ],
    [
      { metadata: { name: 'system-node-critical' } },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: value of system-node-critical PriorityClass must be 2000001000",
      ],
    ],
    [
      { metadata: { name: 'system-node-critical' }, value: 2000001000 },
      [
        "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: globalDefault of system-node-critical PriorityClass must be false",
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(priorityclasses, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [{ value: 1 }, ['value: Forbidden: may not be changed in an update.']],
    [{ preemptionPolicy: 'Never' }, ['preemptionPolicy: Invalid value: "Never": field is immutable']],
    [{ description: 'y', globalDefault: false }, []],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(priorityclasses, good, varyAll(good, changes)))).toEqual(lines);
  });
});

describe('runtime classes', () => {
  const good = {
    handler: 'runc',
    overhead: { podFixed: { cpu: '10m', memory: '1Mi' } },
    scheduling: {
      nodeSelector: { a: 'b' },
      tolerations: [{ key: 'a', operator: 'Equal', value: 'b', effect: 'NoSchedule' }],
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(runtimeclasses, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { handler: '' },
      [
        'handler: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
        'handler: Required value',
      ],
    ],
    [
      { handler: 'A' },
      [
        'handler: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
      ],
    ],
    [
      { 'overhead.podFixed': { cpu: '-1', gold: '1', 'example.com/a': '100m' } },
      [
        'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        'overhead.limits[example.com/a]: Invalid value: "100m": must be an integer',
        'overhead.limits[gold]: Invalid value: "gold": must be a standard resource for containers',
        'overhead.limits[gold]: Invalid value: "gold": must be a standard resource type or fully qualified',
      ],
    ],
    [
      { 'scheduling.nodeSelector': { 'a b': 'c d' } },
      [
        "scheduling.nodeSelector: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        "scheduling.nodeSelector: Invalid value: \"c d\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      {
        'scheduling.tolerations': [
          { key: 'a' },
          { key: 'a' },
          { operator: 'Equal', value: 'b' },
          { key: 'a b', operator: 'Exists', value: 'c', effect: 'Later' },
        ],
      },
      [
        'scheduling.tolerations[1]: Duplicate value: core.Toleration{Key:"a", Operator:"", Value:"", Effect:"", TolerationSeconds:(*int64)(nil)}',
        'scheduling.tolerations[2].operator: Invalid value: "Equal": operator must be Exists when `key` is empty, which means "match all values and all keys"',
        'scheduling.tolerations[3].effect: Unsupported value: "Later": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
        "scheduling.tolerations[3].key: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        'scheduling.tolerations[3].operator: Invalid value: core.Toleration{Key:"a b", Operator:"Exists", Value:"c", Effect:"Later", TolerationSeconds:(*int64)(nil)}: value must be empty when `operator` is \'Exists\'',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(runtimeclasses, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [{ handler: 'gvisor' }, ['handler: Invalid value: "gvisor": field is immutable']],
    [{ 'overhead.podFixed': { cpu: '20m' } }, []],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(runtimeclasses, good, varyAll(good, changes)))).toEqual(lines);
  });
});

describe('leases', () => {
  const good = {
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
      renewTime: '2024-01-01T00:00:00.123456Z',
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(leases, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.leaseDurationSeconds': 0 },
      ['spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0'],
    ],
    [
      { 'spec.leaseTransitions': -1 },
      ['spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      { 'spec.strategy': 'Loudest' },
      ['spec.strategy.strategy: Unsupported value: "Loudest": supported values: "OldestEmulationVersion"'],
    ],
    [
      { 'spec.strategy': 'a b/c' },
      [
        "spec.strategy.strategy: Invalid value: \"a b/c\": prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.preferredHolder': 'b' },
      ['spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(leases, varyAll(good, changes)))).toEqual(lines);
  });
});

describe('lease candidates of 1.31', () => {
  const good = {
    spec: {
      leaseName: 'a',
      binaryVersion: '1.31.0',
      emulationVersion: '1.30.0',
      preferredStrategies: ['OldestEmulationVersion'],
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(alphaLeaseCandidates, good)).toEqual([]);
  });

  test.each<Variation>([
    [{ 'spec.leaseName': '' }, ['spec.leaseName: Required value']],
    [
      { 'spec.binaryVersion': '1.31', 'spec.emulationVersion': '01.1.1' },
      [
        'spec.binaryVersion: Invalid value: "1.31": must be a valid semantic version',
        "spec.binaryVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
        'spec.emulationVersion: Invalid value: "01.1.1": must be a valid semantic version',
        "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
      ],
    ],
    [
      { 'spec.binaryVersion': '1.30.0-rc.1' },
      [
        'spec.binaryVersion: Invalid value: "1.30.0-rc.1": must be greater than or equal to `emulationVersion`',
      ],
    ],
    [
      { 'spec.binaryVersion': undefined, 'spec.emulationVersion': undefined },
      [
        "spec.binaryVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
        "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
      ],
    ],
    [
      { 'spec.preferredStrategies': ['Loudest'] },
      [
        'spec.preferredStrategies[0].strategy: Unsupported value: "Loudest": supported values: "OldestEmulationVersion"',
      ],
    ],
    [
      { 'metadata.name': 'a b' },
      [
        "metadata.name: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(alphaLeaseCandidates, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [{ 'spec.leaseName': 'b' }, ['spec.leaseName: Invalid value: "b": field is immutable']],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(alphaLeaseCandidates, good, varyAll(good, changes)))).toEqual(lines);
  });
});

describe('lease candidates since 1.32', () => {
  const { problemsOnCreate: problems } = manifestsIn(36);
  const good = {
    spec: {
      ...{ leaseName: 'a', binaryVersion: '1.33.0', emulationVersion: '1.32.0' },
      strategy: 'OldestEmulationVersion',
    },
  };

  test('have one strategy', () => {
    expect(problems(leasecandidates, good)).toEqual([]);
    expect(problems(leasecandidates, { spec: { ...good.spec, strategy: 'example.com/mine' } })).toEqual([]);
  });

  test.each<Variation>([
    [{ 'spec.strategy': undefined }, ['spec.strategy: Required value']],
    [{ 'spec.binaryVersion': undefined }, ['spec.binaryVersion: Required value']],
    [
      { 'spec.emulationVersion': undefined },
      [
        "spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'",
      ],
    ],
    [
      { 'spec.strategy': 'Loudest' },
      ['spec.strategy.strategy: Unsupported value: "Loudest": supported values: "OldestEmulationVersion"'],
    ],
    [
      { 'spec.binaryVersion': '1.31.0' },
      ['spec.binaryVersion: Invalid value: "1.31.0": must be greater than or equal to `emulationVersion`'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problems(leasecandidates, varyAll(good, changes)))).toEqual(lines);
  });
});
