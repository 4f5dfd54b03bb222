import { describe, expect, test } from 'vitest';
import { deviceclasses } from '../../src/resources/devices/until-1.31/device-class.ts';
import { podschedulingcontexts } from '../../src/resources/devices/until-1.31/pod-scheduling-context.ts';
import { resourceslices } from '../../src/resources/devices/until-1.31/resource-slice.ts';
import { problemsOnCreate, problemsOnUpdate, problemsOnView } from '../kit/manifests.ts';
import { type StatusChange, shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Devices: what there is, and where. */

describe('device classes', () => {
  const good = {
    spec: {
      selectors: [{ cel: { expression: 'true' } }],
      config: [{ opaque: { driver: 'gpu.example.com', parameters: { a: 1 } } }],
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(deviceclasses, good)).toEqual([]);
  });

  test.each<Variation>([
    [{ 'spec.selectors': [{}] }, ['spec.selectors[0].cel: Required value']],
    [{ 'spec.config': [{}] }, ['spec.config[0].opaque: Required value']],
    [
      { 'spec.suitableNodes': { nodeSelectorTerms: [] } },
      ['suitableNodes.nodeSelectorTerms: Required value: must have at least one node selector term'],
    ],
    [
      { 'spec.selectors': Array(33).fill({ cel: { expression: 'true' } }) },
      ['spec.selectors: Too long: may not be longer than 32'],
    ],
    [
      { 'spec.config': Array(33).fill({ opaque: { driver: 'gpu.example.com', parameters: {} } }) },
      ['spec.config: Too long: may not be longer than 32'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(deviceclasses, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([[{ 'spec.selectors': [] }, []]])(
    'an update to %j is answered as Kubernetes does',
    (changes, lines) => {
      expect(shortened(problemsOnUpdate(deviceclasses, good, varyAll(good, changes)))).toEqual(lines);
    },
  );
});

describe('scheduling contexts', () => {
  const good = { spec: { selectedNode: 'a', potentialNodes: ['a', 'b'] } };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(podschedulingcontexts, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.potentialNodes': ['a', 'a', 'B'] },
      [
        'spec.potentialNodes[1]: Duplicate value: "a"',
        "spec.potentialNodes[2]: Invalid value: \"B\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.potentialNodes': Array.from({ length: 129 }, (_, at) => `node-${at}`) },
      ['spec.potentialNodes: Too long: may not be longer than 128'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(podschedulingcontexts, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<StatusChange>([
    [
      {},
      { resourceClaims: [{ name: 'a', unsuitableNodes: ['a', 'a'] }, { name: 'a' }] },
      ['status.claims[0].unsuitableNodes[1]: Duplicate value: "a"', 'status.claims[1]: Duplicate value: "a"'],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(podschedulingcontexts, good, { before, after, view }))).toEqual(lines);
  });
});

describe('slices', () => {
  const good = {
    spec: {
      driver: 'gpu.example.com',
      pool: { name: 'node-1', generation: 1, resourceSliceCount: 1 },
      nodeName: 'node-1',
      devices: [
        {
          name: 'gpu-0',
          basic: {
            attributes: { model: { string: 'x' }, 'gpu.example.com/version': { version: '1.0.0' } },
            capacity: { memory: '1Gi' },
          },
        },
      ],
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(resourceslices, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.driver': '' },
      [
        "spec.driver: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.driver: Required value',
      ],
    ],
    [
      { 'spec.pool': { name: '', generation: -1, resourceSliceCount: 0 } },
      [
        'spec.pool.generation: Invalid value: -1: must be greater than or equal to zero',
        'spec.pool.name: Required value',
        'spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero',
      ],
    ],
    [
      { 'spec.pool.name': 'A/b' },
      [
        "spec.pool.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.nodeName': undefined },
      ['spec: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required'],
    ],
    [
      { 'spec.allNodes': true, 'spec.nodeName': undefined, 'spec.nodeSelector': { nodeSelectorTerms: [] } },
      [
        'spec.nodeSelector.nodeSelectorTerms: Invalid value: []core.NodeSelectorTerm{}: must have exactly one selector term',
        'spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term',
        'spec: Invalid value: …: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required',
      ],
    ],
    [
      { 'spec.devices.0.name': 'A' },
      [
        'spec.devices[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
      ],
    ],
    [{ 'spec.devices.0.basic': undefined }, ['spec.devices[0].basic: Required value']],
    [
      {
        'spec.devices.0.basic.attributes': {
          '9': { int: 1 },
          'a/b': {},
          c: { bool: true, string: 'x' },
          d: { version: '1' },
          e: { string: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' },
        },
      },
      [
        "spec.devices[0].basic.attributes: Invalid value: \"9\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
        'spec.devices[0].basic.attributes[a/b]: Required value: exactly one value must be specified',
        'spec.devices[0].basic.attributes[c]: Invalid value: {"bool":true,"string":"x"}: exactly one field must be specified',
        'spec.devices[0].basic.attributes[d].version: Invalid value: "1": must be a string compatible with semver.org spec 2.0.0',
        'spec.devices[0].basic.attributes[e].string: Too long: may not be longer than 64',
      ],
    ],
    [
      {
        'spec.nodeName': 'A',
        'spec.pool.name': `${'a/'.repeat(127)}a`,
        'spec.driver': `a.${'b'.repeat(63)}`,
      },
      [
        'spec.driver: Too long: must have at most 63 bytes',
        "spec.nodeName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.pool.name: Too long: may not be longer than 253',
      ],
    ],
    [
      { 'spec.devices': Array.from({ length: 129 }, (_, at) => ({ name: `gpu-${at % 128}`, basic: {} })) },
      [
        'spec.devices: Too long: may not be longer than 128',
        'spec.devices[128].name: Duplicate value: "gpu-0"',
      ],
    ],
    [
      { 'spec.devices.0.basic.capacity': { 'a.b/': '1', ['c'.repeat(33)]: '1' } },
      [
        'spec.devices[0].basic.capacity: Required value: the name must not be empty',
        'spec.devices[0].basic.capacity: Too long: may not be longer than 32',
      ],
    ],
    [
      {
        'spec.devices.0.basic.attributes': Object.fromEntries(
          Array.from({ length: 32 }, (_, at) => [`a${at}`, { int: at }]),
        ),
      },
      [
        'spec.devices[0].basic: Invalid value: 33: the total number of attributes and capacities must not exceed 32',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(resourceslices, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [
      { 'spec.driver': 'other.example.com', 'spec.pool.name': 'b', 'spec.nodeName': 'c' },
      [
        'spec.driver: Invalid value: "other.example.com": field is immutable',
        'spec.nodeName: Invalid value: "c": field is immutable',
        'spec.pool.name: Invalid value: "b": field is immutable',
      ],
    ],
    [{ 'spec.pool.generation': 2 }, []],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(resourceslices, good, varyAll(good, changes)))).toEqual(lines);
  });
});
