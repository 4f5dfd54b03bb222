import { expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { resourceclaims } from '../../src/resources/devices/resource-claim.ts';
import { resourceslices } from '../../src/resources/devices/resource-slice.ts';
import { manifestsIn } from '../kit/manifests.ts';
import { shortened } from '../kit/variation-tables.ts';

/** Rules of dynamic resource allocation that 1.35 and 1.36 changed. */

const GATES = {
  ...{ DRAPartitionableDevices: true, DRADeviceTaints: true, DRAPrioritizedList: true },
  ...{ DRAConsumableCapacity: true, DRADeviceBindingConditions: true },
};

const problemsIn = (minor: Minor, definition: ResourceDefinition, spec: JsonObject): readonly string[] =>
  shortened(manifestsIn(minor, GATES).problemsOnCreate(definition, { spec }));

const slice = (more: JsonObject): JsonObject => ({
  driver: 'a.example.com',
  nodeName: 'node-1',
  pool: { name: 'node-1', resourceSliceCount: 1 },
  ...more,
});
const devices = (...more: JsonObject[]): JsonObject =>
  slice({ devices: more.map((device, at) => ({ name: `d${at}`, ...device })) });
const claim = (...requests: JsonObject[]): JsonObject => ({ devices: { requests } });
const one = { deviceClassName: 'a' };
const counters = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { value: '1' }]));
const many = (amount: number): JsonObject => counters(...Array.from({ length: amount }, (_, at) => `c${at}`));
const taking = (counterSet: string, ...names: string[]): JsonObject => ({
  consumesCounters: [{ counterSet, counters: counters(...names) }],
});
const shared = (sets: JsonObject, ...more: JsonObject[]): JsonObject => ({
  ...(more.length === 0 ? slice({}) : devices(...more)),
  sharedCounters: Object.entries(sets).map(([name, set]) => ({ name, counters: set })),
});
const taint = { key: 'a', effect: 'NoSchedule' };
const NOT_BOTH = 'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed';

test.each<[string, ResourceDefinition, JsonObject, before: string[], since: string[], Minor]>([
  [
    'devices take from counters of their own slice, and since 1.35 from those of another',
    resourceslices,
    shared({ a: counters('x') }, taking('a', 'x')),
    [],
    [NOT_BOTH],
    35,
  ],
  [
    'a set of counters must be known',
    resourceslices,
    devices(taking('a', 'x')),
    [
      'spec.devices[0].consumesCounters[0].counterSet: Invalid value: "a": must reference a counterSet defined in the ResourceSlice sharedCounters',
    ],
    [],
    35,
  ],
  [
    'and so must a counter',
    resourceslices,
    shared({ a: counters('x') }, taking('a', 'y')),
    [
      'spec.devices[0].consumesCounters[0].counters: Invalid value: "y": must reference a counter defined in the ResourceSlice sharedCounters',
    ],
    [NOT_BOTH],
    35,
  ],
  [
    'also one that every object of JavaScript has',
    resourceslices,
    shared({ a: counters('x') }, taking('a', 'constructor')),
    [
      'spec.devices[0].consumesCounters[0].counters: Invalid value: "constructor": must reference a counter defined in the ResourceSlice sharedCounters',
    ],
    [NOT_BOTH],
    35,
  ],
  [
    'limits of counters are totals, and since 1.35 of each set',
    resourceslices,
    shared({ a: many(20), b: many(20) }),
    ['spec.sharedCounters: Invalid value: 40: the total number of shared counters must not exceed 32'],
    [],
    35,
  ],
  [
    'as many sets as one likes, and since 1.35 eight',
    resourceslices,
    shared(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`s${at}`, counters('x')]))),
    [],
    ['spec.sharedCounters: Too many: 9: must have at most 8 items'],
    35,
  ],
  [
    'four taints, and since 1.35 sixteen',
    resourceslices,
    devices({ taints: Array(5).fill(taint) }),
    ['spec.devices[0].taints: Too many: 5: must have at most 4 items'],
    [],
    35,
  ],
  [
    'devices with taints are as many as others, and since 1.35 half as many',
    resourceslices,
    devices(...Array.from({ length: 65 }, () => ({ taints: [taint] }))),
    [],
    ['spec.devices: Too many: 65: must have at most 64 items'],
    35,
  ],
  [
    'an attribute without a value lacks it, and since 1.35 is wrong',
    resourceslices,
    devices({ attributes: { model: {} } }),
    ['spec.devices[0].attributes[model]: Required value: exactly one value must be specified'],
    ['spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified'],
    35,
  ],
  [
    'a device that is there twice has its name marked, and since 1.35 itself',
    resourceslices,
    devices({}, { name: 'd0' }),
    ['spec.devices[1].name: Duplicate value: "d0"'],
    ['spec.devices[1]: Duplicate value: "d0"'],
    35,
  ],
  [
    'so has a request',
    resourceclaims,
    claim({ name: 'a', exactly: one }, { name: 'a', exactly: one }),
    ['spec.devices.requests[1].name: Duplicate value: "a"'],
    ['spec.devices.requests[1]: Duplicate value: "a"'],
    35,
  ],
  [
    'and an alternative',
    resourceclaims,
    claim({
      name: 'a',
      firstAvailable: [
        { name: 'b', ...one },
        { name: 'b', ...one },
      ],
    }),
    ['spec.devices.requests[0].firstAvailable[1].name: Duplicate value: "b"'],
    ['spec.devices.requests[0].firstAvailable[1]: Duplicate value: "b"'],
    35,
  ],
  [
    'two ways at once are judged each, and since 1.35 refused as such',
    resourceclaims,
    claim({ name: 'a', exactly: { ...one, count: -1 }, firstAvailable: [{ name: 'b', ...one }] }),
    [
      'spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero',
      'spec.devices.requests[0]: Invalid value: "null": exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
    ],
    [
      'spec.devices.requests[0]: Invalid value: "null": exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
    ],
    35,
  ],
  [
    'a wrong name is marked at its entry, and since 1.36 at the map',
    resourceslices,
    devices({ capacity: { '/a': { value: '1' } } }),
    ['spec.devices[0].capacity[/a]: Invalid value: "": the domain must not be empty'],
    ['spec.devices[0].capacity: Invalid value: "": the domain must not be empty'],
    36,
  ],
])('%s', (_, definition, spec, before, since, minor) => {
  expect(problemsIn(minor === 36 ? 35 : 34, definition, spec)).toEqual(before);
  expect(problemsIn(minor, definition, spec)).toEqual(since);
});

test('a policy of requests needs a device that several share, also where the device changes and the policy does not', () => {
  const device = (allowMultipleAllocations?: true): JsonObject => ({
    spec: devices({
      capacity: { memory: { value: '1Gi', requestPolicy: { default: '1Gi' } } },
      ...(allowMultipleAllocations === undefined ? {} : { allowMultipleAllocations }),
    }),
  });
  const [before, after] = [device(true), device()].map((manifest) =>
    manifestsIn(36).created(resourceslices, manifest),
  );
  if (before === undefined || after === undefined) throw new Error('no slices');
  expect(resourceslices.strategy.validate?.(after, before)).toMatchObject([
    { field: 'spec.devices[0].capacity[memory].requestPolicy' },
  ]);
});

test('in v1beta1, an empty name of a node and `false` are as if they were absent', () => {
  const conversion = resourceslices.versions.find(({ version }) => version === 'v1beta1')?.conversion;
  const stored = (spec: JsonObject): unknown =>
    conversion?.toStorage({ kind: '', apiVersion: '', metadata: {}, spec }).spec;
  expect(stored({ nodeName: '', allNodes: false })).toEqual({});
  expect(stored({ allNodes: true })).toEqual({ allNodes: true });
});

test('tolerations of what was given are copies, and are not judged', () => {
  const given = {
    allocation: {
      devices: {
        results: [
          {
            ...{ request: 'a', driver: 'a.example.com', pool: 'p', device: 'd' },
            tolerations: [{ key: 'a b', operator: 'Exists' }],
          },
        ],
      },
    },
  };
  const spec = claim({ name: 'a', exactly: one });
  expect(
    manifestsIn(36).problemsOnView(resourceclaims, { spec }, { before: {}, after: given, view: 'status' }),
  ).toEqual([]);
});
