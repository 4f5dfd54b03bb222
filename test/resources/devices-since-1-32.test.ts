import { describe, expect, test } from 'vitest';
import { MINORS, type Minor } from '../../src/api/emulation.ts';
import { gatesOf } from '../../src/api/feature-gates.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import type { ResourceDefinition } from '../../src/registry/resource-definition.ts';
import { builtInResources } from '../../src/resources/all.ts';
import { deviceclasses } from '../../src/resources/devices/device-class.ts';
import { resourceclaims } from '../../src/resources/devices/resource-claim.ts';
import { resourceclaimtemplates } from '../../src/resources/devices/resource-claim-template.ts';
import { resourceslices } from '../../src/resources/devices/resource-slice.ts';
import { atOnce } from '../../src/util/turns.ts';
import { manifestsIn } from '../kit/manifests.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Dynamic resource allocation since 1.32: claims, templates, classes and slices. */

const of136 = manifestsIn(36, { DRAListTypeAttributes: true });
const problems = (definition: ResourceDefinition, manifest: JsonObject): readonly string[] =>
  shortened(of136.problemsOnCreate(definition, manifest));

test('each version of Kubernetes serves the versions of the API that it has, and stores one form', () => {
  const served = MINORS.map((minor) =>
    builtInResources(minor)
      .filter(({ resource }) => resource === 'resourceclaims')
      .flatMap(({ versions, storage }) => [
        storage.type,
        ...versions.map(({ version, enabledByDefault }) => `${version} ${enabledByDefault}`),
      ]),
  );
  const STORED = 'resource/stored.ResourceClaim';
  expect(served).toEqual([
    ['resource/v1alpha3.ResourceClaim', 'v1alpha3 false'],
    [STORED, 'v1beta1 false', 'v1alpha3 false'],
    [STORED, 'v1beta2 false', 'v1beta1 false', 'v1alpha3 false'],
    [STORED, 'v1 true', 'v1beta2 false', 'v1beta1 false'],
    [STORED, 'v1 true', 'v1beta2 false', 'v1beta1 false'],
    [STORED, 'v1 true', 'v1beta2 false', 'v1beta1 false'],
  ]);
});

const claim = {
  spec: {
    devices: {
      requests: [
        { name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } },
        {
          name: 'net',
          firstAvailable: [
            {
              name: 'fast',
              deviceClassName: 'fast.example.com',
              tolerations: [{ key: 'a', operator: 'Exists' }],
            },
            { name: 'slow', deviceClassName: 'slow.example.com', count: 2 },
          ],
        },
      ],
      constraints: [{ requests: ['gpu', 'net/fast'], matchAttribute: 'gpu.example.com/model' }],
      config: [{ requests: ['net'], opaque: { driver: 'gpu.example.com', parameters: { a: 1 } } }],
    },
  },
};

describe('claims', () => {
  test('one that is right in all its fields is taken, and asks for one device by default', () => {
    expect(problems(resourceclaims, claim)).toEqual([]);
    const { spec } = of136.created(resourceclaims, claim) as ApiObject & typeof claim;
    const [gpu, net] = spec.devices.requests;
    expect(gpu).toMatchObject({ exactly: { allocationMode: 'ExactCount', count: 1 } });
    expect(net?.firstAvailable).toMatchObject([{ count: 1 }, { allocationMode: 'ExactCount', count: 2 }]);
  });

  test.each<Variation>([
    [
      { 'spec.devices.requests.0.exactly.deviceClassName': '' },
      ['spec.devices.requests[0].exactly.deviceClassName: Required value'],
    ],
    [
      { 'spec.devices.requests.0': { name: 'gpu' } },
      ['spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required'],
    ],
    [
      { 'spec.devices.requests.1.exactly': { deviceClassName: 'a' } },
      [
        'spec.devices.requests[1]: Invalid value: "null": exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set',
      ],
    ],
    [
      { 'spec.devices.requests.1.firstAvailable.1.name': 'fast' },
      ['spec.devices.requests[1].firstAvailable[1]: Duplicate value: "fast"'],
    ],
    [
      { 'spec.devices.constraints.0.requests': ['net/none'] },
      [
        'spec.devices.constraints[0].requests[0]: Invalid value: "net/none": must be the name of a request in the claim or the name of a request and a subrequest separated by \'/\'',
      ],
    ],
    [
      { 'spec.devices.requests.1.firstAvailable.0.tolerations.0.value': 'x' },
      [
        'spec.devices.requests[1].firstAvailable[0].tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`',
      ],
    ],
    [
      { 'spec.devices.requests.0.exactly.selectors': Array(33).fill({ cel: { expression: 'true' } }) },
      ['spec.devices.requests[0].exactly.selectors: Too many: 33: must have at most 32 items'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(problems(resourceclaims, varyAll(claim, changes))).toEqual(lines);
  });

  test('templates have the same rules', () => {
    const template = { spec: { spec: claim.spec } };
    expect(problems(resourceclaimtemplates, template)).toEqual([]);
    const nameless = varyAll(template, { 'spec.spec.devices.requests.0.name': '' });
    expect(problems(resourceclaimtemplates, nameless).join()).toContain('spec.spec.devices.requests[0].name');
  });

  test('fields of a feature that is off are dropped, and nothing in their place', () => {
    const asked = varyAll(claim, { 'spec.devices.requests.0.exactly.adminAccess': true });
    const accessOf = (object: ApiObject): unknown =>
      (object as ApiObject & { spec: { devices: { requests: { exactly?: JsonObject }[] } } }).spec.devices
        .requests[0]?.exactly?.adminAccess;
    expect(
      MINORS.filter((minor) => minor > 31).map((minor) =>
        accessOf(manifestsIn(minor).created(resourceclaims, asked)),
      ),
    ).toEqual([undefined, undefined, true, true, true]);
  });

  test('what was given is judged, and what drivers report goes with it', () => {
    const status = resourceclaims.subresources.find(({ name }) => name === 'status');
    if (status?.access !== 'view') throw new Error('a claim has no status');
    const place = { driver: 'gpu.example.com', pool: 'node-1', device: 'gpu-0' };
    const allocated = { devices: { results: [{ request: 'gpu', ...place }] } };
    const old = of136.created(resourceclaims, claim);
    const given: ApiObject = { ...old, status: { allocation: allocated, devices: [{ ...place }] } };
    const judge = (object: ApiObject, before: ApiObject): readonly string[] =>
      (status.validate?.(status.write(object, before), before) ?? []).map(
        ({ field, message }) => `${field}: ${message}`,
      );
    expect(judge(given, old)).toEqual([]);
    expect(judge({ ...old, status: { devices: [{ ...place }] } }, old)).toEqual([
      'status.devices[0]: Invalid value: "gpu.example.com/node-1/gpu-0": must be an allocated device in the claim',
    ]);
    const foreign = { devices: { results: [{ request: 'gpu', ...place, driver: 'A_' }] } };
    expect(judge({ ...old, status: { allocation: foreign } }, old)).toEqual([
      expect.stringContaining('status.allocation.devices.results[0].driver: Invalid value: "A_"'),
    ]);
    const interfaceName = 'x'.repeat(257);
    const named = { allocation: allocated, devices: [{ ...place, networkData: { interfaceName } }] };
    expect(judge({ ...given, status: named }, given)).toEqual([
      'status.devices[0].networkData.interfaceName: Too long: must have at most 256 bytes',
    ]);
    const ips = ['10.0.0.1/8', '10.0.0.1/8'];
    expect(
      judge(
        { ...given, status: { allocation: allocated, devices: [{ ...place, networkData: { ips } }] } },
        given,
      ),
    ).toEqual(['status.devices[0].networkData.ips[1]: Duplicate value: "10.0.0.1/8"']);
    const other = { devices: { results: [{ request: 'net/slow', ...place }] } };
    expect(judge({ ...old, status: { allocation: other } }, given).join()).toContain('field is immutable');
    const ended = status.write({ ...given, status: { devices: [{ ...place }] } }, given);
    expect(ended.status).toEqual({});
  });
});

describe('classes', () => {
  test.each<[JsonObject, readonly string[]]>([
    [{ extendedResourceName: 'example.com/gpu' }, []],
    [
      { extendedResourceName: 'cpu' },
      ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
    ],
    [{ selectors: [{}] }, ['spec.selectors[0].cel: Required value']],
    [{ config: [{}] }, ['spec.config[0].opaque: Required value']],
  ])('%j', (spec, lines) => {
    expect(problems(deviceclasses, { spec })).toEqual(lines);
  });
});

const slice = {
  spec: {
    driver: 'gpu.example.com',
    nodeName: 'node-1',
    pool: { name: 'node-1', resourceSliceCount: 1 },
    devices: [
      {
        name: 'gpu-0',
        attributes: { model: { string: 'a' }, sizes: { ints: [1, 2] } },
        capacity: { memory: { value: '8Gi' } },
        taints: [{ key: 'example.com/broken', effect: 'NoSchedule' }],
      },
    ],
  },
};

describe('slices', () => {
  test('one that is right in all its fields is taken, and says when a taint was added', () => {
    expect(problems(resourceslices, slice)).toEqual([]);
    const { spec } = of136.created(resourceslices, slice) as ApiObject & typeof slice;
    expect(spec.devices[0]?.taints[0]).toHaveProperty('timeAdded');
  });

  test.each<Variation>([
    [
      { 'spec.devices.0.attributes.model': {} },
      ['spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified'],
    ],
    [
      { 'spec.devices.0.taints.0.effect': 'Sometimes' },
      [
        'spec.devices[0].taints[0].effect: Unsupported value: "Sometimes": supported values: "NoExecute", "NoSchedule", "None"',
      ],
    ],
    [
      { 'spec.allNodes': true },
      [
        'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
      ],
    ],
    [
      { 'spec.devices.0.nodeName': 'node-1' },
      [
        'spec.devices[0]: Invalid value: "null": `nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
      ],
    ],
    [
      { 'spec.devices.0.bindingConditions': ['ready'] },
      [
        'spec.devices[0].bindingFailureConditions: Invalid value: []string{}: bindingFailureConditions are required to use bindingConditions',
      ],
    ],
    [
      { 'spec.devices.0.capacity.memory.requestPolicy': { default: '1Gi' } },
      ['spec.devices[0].capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true'],
    ],
    [
      {
        'spec.devices.0.allowMultipleAllocations': true,
        'spec.devices.0.capacity.memory.requestPolicy': {
          default: '3Gi',
          validRange: { min: '2Gi', step: '2Gi' },
        },
      },
      [
        'spec.devices[0].capacity[memory].requestPolicy.validRange.step: Invalid value: "3Gi": value is not a multiple of a given step (2Gi) from (2Gi)',
      ],
    ],
    [
      { 'spec.devices.0.consumesCounters': [{ counterSet: 'a' }] },
      ['spec.devices[0].consumesCounters[0].counters: Required value'],
    ],
    [
      { 'spec.sharedCounters': [{ name: 'a', counters: { b: { value: '1' } } }] },
      ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(problems(resourceslices, varyAll(slice, changes))).toEqual(lines);
  });
});

/** Claims and slices that break one rule in several ways: each has another message, of which a part is enough. */
test.each<[string, ResourceDefinition, JsonObject, JsonObject]>([
  [
    'requests[0]: Invalid value: "FAST"',
    resourceclaims,
    claim,
    { 'spec.devices.constraints.0.requests': ['net/FAST'] },
  ],
  [
    'spec.devices.requests[1].firstAvailable[0].name: Invalid value: "FAST"',
    resourceclaims,
    claim,
    { 'spec.devices.requests.1.firstAvailable.0.name': 'FAST' },
  ],
  [
    'spec.devices.constraints[0].distinctAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash',
    resourceclaims,
    claim,
    { 'spec.devices.constraints.0': { requests: ['gpu'], distinctAttribute: 'model' } },
  ],
  ['spec.driver: Invalid value: "A_"', resourceslices, slice, { 'spec.driver': 'A_' }],
  [
    'spec.nodeSelector.nodeSelectorTerms[0].matchExpressions[0].operator: ',
    resourceslices,
    varyAll(slice, { 'spec.nodeName': undefined, 'spec.allNodes': true }) as JsonObject,
    {
      'spec.allNodes': undefined,
      'spec.nodeSelector': {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Sometimes' }] }],
      },
    },
  ],
  [
    'spec.devices.config[0].opaque.driver: Invalid value: "A_"',
    resourceclaims,
    claim,
    { 'spec.devices.config.0.opaque.driver': 'A_' },
  ],
  [
    'spec.devices[0].taints[0].effect: Required value',
    resourceslices,
    slice,
    { 'spec.devices.0.taints.0.effect': '' },
  ],
  [
    'spec.devices[0].bindingFailureConditions[0]: Invalid value: "ready": bindingFailureConditions must not overlap',
    resourceslices,
    slice,
    { 'spec.devices.0.bindingConditions': ['ready'], 'spec.devices.0.bindingFailureConditions': ['ready'] },
  ],
  [
    'requestPolicy.validValues[1]: Duplicate value: "1Gi"',
    resourceslices,
    slice,
    {
      'spec.devices.0.allowMultipleAllocations': true,
      'spec.devices.0.capacity.memory.requestPolicy': { default: '1Gi', validValues: ['1Gi', '1024Mi'] },
    },
  ],
  [
    'requestPolicy.validValues: Invalid value: "1Gi": default value is not valid according to the requestPolicy',
    resourceslices,
    slice,
    {
      'spec.devices.0.allowMultipleAllocations': true,
      'spec.devices.0.capacity.memory.requestPolicy': { default: '1Gi', validValues: ['2Gi'] },
    },
  ],
  [
    'spec.devices[0].bindingConditions[0]: Invalid value: "a b"',
    resourceslices,
    slice,
    { 'spec.devices.0.bindingConditions': ['a b'], 'spec.devices.0.bindingFailureConditions': ['failed'] },
  ],
  [
    'spec.devices[0]: Invalid value: "{`nodeName`, `allNodes`}": exactly one of',
    resourceslices,
    varyAll(slice, { 'spec.nodeName': undefined, 'spec.perDeviceNodeSelection': true }) as JsonObject,
    { 'spec.devices.0.nodeName': 'node-1', 'spec.devices.0.allNodes': true },
  ],
  [
    'spec.sharedCounters[0].name: Invalid value: "A"',
    resourceslices,
    varyAll(slice, { 'spec.devices': undefined }) as JsonObject,
    { 'spec.sharedCounters': [{ name: 'A', counters: { b: { value: '1' } } }] },
  ],
])('%s', (line, definition, good, changes) => {
  expect(problems(definition, good).join()).not.toContain(line);
  expect(problems(definition, varyAll(good, changes))).toContainEqual(expect.stringContaining(line));
});

test.each([
  [resourceclaims, claim, 'spec.devices.requests.0.deviceClassName'],
  [resourceclaimtemplates, { spec: { spec: claim.spec } }, 'spec.spec.devices.requests.0.deviceClassName'],
  [resourceslices, slice, 'spec.devices.0.basic.capacity.memory.value'],
] as const)(
  'v1beta1 has its own form of $resource, and comes back from the stored one',
  (definition, manifest, path) => {
    const conversion = definition.versions.find(({ version }) => version === 'v1beta1')?.conversion;
    if (conversion === undefined) throw new Error('v1beta1 has no conversion');
    const stored = of136.created(definition, manifest);
    const seen = conversion.fromStorage(stored);
    const value = path.split('.').reduce<unknown>((at, step) => (at as JsonObject)[step], seen);
    expect(value).toBeTypeOf('string');
    expect(conversion.toStorage(seen)).toEqual(stored);
  },
);

/** What the whole of a new object answers, with its expressions. */
function answers(
  definition: ResourceDefinition,
  manifest: JsonObject,
  { minor = 36, old, ...given }: { minor?: Minor; old?: JsonObject; [gate: string]: unknown } = {},
): string[] {
  const gates = gatesOf(minor);
  const isOn = (name: string): boolean => given[name] === true || (gates.get(name)?.on ?? false);
  const manifests = manifestsIn(minor);
  const before = old === undefined ? undefined : manifests.created(definition, old);
  const steps = definition.strategy.validateInSteps?.(
    manifests.created(definition, manifest),
    before,
    Object.assign(isOn, { minor }),
  );
  if (steps === undefined) throw new Error('nothing is compiled');
  return atOnce(steps).map(({ field, message }) => `${field}: ${message}`);
}

describe('expressions that select devices', () => {
  const selecting = (...expressions: string[]): JsonObject => ({
    spec: { selectors: expressions.map((expression) => ({ cel: { expression } })) },
  });

  test.each([
    'device.driver == "gpu.example.com"',
    'device.attributes["gpu.example.com"].model == "a100"',
    'device.attributes["gpu.example.com"].large',
    '"numa" in device.attributes["gpu.example.com"] && device.attributes["gpu.example.com"].numa == 0',
    'device.capacity["gpu.example.com"].memory.compareTo(quantity("10Gi")) >= 0',
    'cel.bind(dra, device.attributes["gpu.example.com"], dra.one && dra.two)',
    'device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.2.0"))',
    'device.allowMultipleAllocations',
  ])('%s is compiled', (expression) => {
    expect(answers(deviceclasses, selecting(expression))).toEqual([]);
  });

  test.each([
    ['device.driver ==', 'Syntax error'],
    ['device.name == "a"', "undefined field 'name'"],
    ['object.driver == "a"', "undeclared reference to 'object'"],
    ['device.driver', 'must evaluate to bool or the unknown type, not string'],
    ['device', 'must evaluate to bool or the unknown type, not kubernetes.DRADevice'],
    ['device.driver == 1', 'found no matching overload'],
    ['device.attributes["a"].b.includes("c")', 'includes'],
  ])('%s is refused', (expression, why) => {
    const lines = answers(deviceclasses, selecting('true', expression));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(
      `spec.selectors[1].cel.expression: Invalid value: ${JSON.stringify(expression)}: `,
    );
    expect(lines[0]).toContain(why);
  });

  const attributes = 'device.attributes["gpu.example.com"]';
  const loops = (body: string): string =>
    ['a', 'b', 'c'].reduceRight((inner, name) => `device.attributes.all(${name}, ${inner})`, body);
  test.each([
    loops('device.attributes[a].all(d, d != "")'),
    `${attributes}.all(a, ${attributes}.all(b, ${attributes}.all(c, ${attributes}.all(d, a + b != c + d))))`,
    `cel.bind(all, ${attributes}, ${loops('all.all(d, d != "")')})`,
    `${attributes}.model${'.replace("", "0123456789")'.repeat(6)} == "a"`,
  ])('%s is refused, because it may cost too much', (expression) => {
    expect(answers(deviceclasses, selecting('true', expression))).toEqual([
      'spec.selectors[1].cel.expression: Forbidden: too complex, exceeds cost limit',
    ]);
    const stored = selecting(expression);
    expect(answers(deviceclasses, stored, { old: stored })).toEqual([]);
  });

  test.each([
    `${attributes}.model.matches("^a[0-9]{3}$")`,
    `cel.bind(gpu, ${attributes}, gpu.model.matches("^a[0-9]{3}$") && gpu.family.lowerAscii() == "ampere")`,
    'device.attributes.all(domain, device.attributes[domain].all(id, id.startsWith("n") || domain.contains("gpu")))',
    'device.driver.replace("a", "b").contains("gpu")',
  ])('%s costs little, because texts and maps of devices are small', (expression) => {
    expect(answers(deviceclasses, selecting(expression))).toEqual([]);
  });

  test('what a version or a feature adds is known with it alone', () => {
    const shared = selecting('device.allowMultipleAllocations');
    expect(answers(deviceclasses, shared, { minor: 33 })[0]).toContain("'allowMultipleAllocations'");
    const lists = selecting('device.attributes["a"].b.includes("c")');
    expect(answers(deviceclasses, lists, { DRAListTypeAttributes: true })).toEqual([]);
  });

  test('those of requests, of alternatives and of templates are compiled, and stored ones are not again', () => {
    const wrong = [{ cel: { expression: 'device' } }];
    const changes = {
      'spec.devices.requests.0.exactly.selectors': wrong,
      'spec.devices.requests.1.firstAvailable.1.selectors': wrong,
    };
    const bad = varyAll(claim, changes) as JsonObject;
    const at = 'spec.devices.requests';
    const fields = (lines: readonly string[]): string[] => lines.map((line) => line.split(': ')[0] ?? '');
    expect(fields(answers(resourceclaims, bad))).toEqual([
      `${at}[0].exactly.selectors[0].cel.expression`,
      `${at}[1].firstAvailable[1].selectors[0].cel.expression`,
    ]);
    expect(fields(answers(resourceclaimtemplates, { spec: { spec: bad.spec } } as JsonObject))).toEqual([
      `spec.${at}[0].exactly.selectors[0].cel.expression`,
      `spec.${at}[1].firstAvailable[1].selectors[0].cel.expression`,
    ]);
    const stored = selecting('device');
    expect(answers(deviceclasses, stored)).toHaveLength(1);
    expect(answers(deviceclasses, stored, { old: stored })).toEqual([]);
    expect(answers(resourceclaims, bad, { old: bad })).toEqual([]);
  });
});

test.each<[JsonObject, string[]]>([
  [{ cpu: { capacityKey: 'memory' } }, []],
  [{ cpu: { allocationMultiplier: '2' } }, []],
  [{ 'example.com/a': { capacityKey: 'memory' } }, ['[example.com/a]: Invalid value: "example.com/a"']],
  [{ cpu: {} }, []],
  [{ cpu: { allocationMultiplier: '0' } }, ['[cpu].allocationMultiplier: Invalid value: "0"']],
  [{ cpu: { capacityKey: '' } }, ['[cpu].capacityKey: Invalid value: ""']],
  [{ cpu: { capacityKey: 'other' } }, ['[cpu].capacityKey: Not found: "other"']],
])('what a device takes of the resources of its node: %j', (mappings, ends) => {
  const manifests = manifestsIn(36, { DRANodeAllocatableResources: true, DRAListTypeAttributes: true });
  const lines = manifests.problemsOnCreate(
    resourceslices,
    varyAll(slice, { 'spec.devices.0.nodeAllocatableResourceMappings': mappings }) as JsonObject,
  );
  const at = 'spec.devices[0].nodeAllocatableResourceMappings';
  expect(lines).toEqual(ends.map((end) => expect.stringContaining(`${at}${end}`)));
});

test('a device takes one of a resource of its node for each of its own, unless its driver says otherwise', () => {
  const taken = manifestsIn(36, { DRANodeAllocatableResources: true }).created(
    resourceslices,
    varyAll(slice, {
      'spec.devices.0.nodeAllocatableResourceMappings': {
        cpu: { capacityKey: 'memory' },
        memory: { allocationMultiplier: '2' },
      },
    }) as JsonObject,
  ) as ApiObject & typeof slice;
  expect(taken.spec.devices[0]).toHaveProperty('nodeAllocatableResourceMappings', {
    cpu: { capacityKey: 'memory', allocationMultiplier: '1' },
    memory: { allocationMultiplier: '2' },
  });
});

test('names of attributes are judged in the words of each version', () => {
  const refusalOf = (minor: Minor, matchAttribute: string): string | undefined =>
    manifestsIn(minor).problemsOnCreate(
      resourceclaims,
      varyAll(claim, { 'spec.devices.constraints.0.matchAttribute': matchAttribute }) as JsonObject,
    )[0];
  const at = 'spec.devices.constraints[0].matchAttribute';
  expect(refusalOf(34, 'model')).toBe(`${at}: Invalid value: "model": must include a domain`);
  expect(refusalOf(34, 'a.b/')).toBe(`${at}: Required value: the name must not be empty`);
  expect(refusalOf(35, 'a.b/')).toBe(`${at}: Invalid value: "": the name must not be empty`);
  expect(refusalOf(35, '/model')).toBe(`${at}: Invalid value: "": the domain must not be empty`);
  expect(refusalOf(33, 'a.b/9')).toContain(`${at}: Invalid value: "9": a valid C identifier`);
});

test('the amount of a request that names none is judged at the end of the range that it leaves', () => {
  const refusalOf = (policy: JsonObject): readonly string[] =>
    problems(
      resourceslices,
      varyAll(slice, {
        'spec.devices.0.allowMultipleAllocations': true,
        'spec.devices.0.capacity.memory.requestPolicy': policy,
      }) as JsonObject,
    );
  const at = 'spec.devices[0].capacity[memory].requestPolicy.validRange';
  expect(refusalOf({ default: '1Gi', validRange: { min: '2Gi' } })[0]).toContain(
    `${at}.min: Invalid value: "1Gi"`,
  );
  expect(refusalOf({ default: '3Gi', validRange: { min: '1Gi', max: '2Gi' } })[0]).toContain(
    `${at}.max: Invalid value: "3Gi"`,
  );
});
