import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { resourceclaims } from '../../src/resources/devices/until-1.31/resource-claim.ts';
import { resourceclaimtemplates } from '../../src/resources/devices/until-1.31/resource-claim-template.ts';
import { created, problemsOnCreate, problemsOnUpdate, problemsOnView } from '../kit/manifests.ts';
import { type StatusChange, shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Claims: what devices are asked for, and what is given. */

describe('claims', () => {
  const good = {
    spec: {
      devices: {
        requests: [
          { name: 'gpu', deviceClassName: 'gpu.example.com', selectors: [{ cel: { expression: 'true' } }] },
        ],
        constraints: [{ requests: ['gpu'], matchAttribute: 'gpu.example.com/model' }],
        config: [{ requests: ['gpu'], opaque: { driver: 'gpu.example.com', parameters: { a: 1 } } }],
      },
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(resourceclaims, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.devices.requests.0.name': 'A' },
      [
        'spec.devices.config[0].requests[0]: Invalid value: "gpu": must be the name of a request in the claim',
        'spec.devices.constraints[0].requests[0]: Invalid value: "gpu": must be the name of a request in the claim',
        'spec.devices.requests[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.devices.requests.0.deviceClassName': '' },
      ['spec.devices.requests[0].deviceClassName: Required value'],
    ],
    [
      { 'spec.devices.requests.0.allocationMode': 'All', 'spec.devices.requests.0.count': 2 },
      [
        "spec.devices.requests[0].count: Invalid value: 2: must not be specified when allocationMode is 'All'",
      ],
    ],
    [
      { 'spec.devices.requests.0.count': -1 },
      ['spec.devices.requests[0].count: Invalid value: -1: must be greater than zero'],
    ],
    [
      { 'spec.devices.requests.0.allocationMode': 'Some' },
      [
        'spec.devices.requests[0].allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
      ],
    ],
    [
      { 'spec.devices.requests.0.selectors': [{}, { cel: { expression: ' ' } }] },
      [
        'spec.devices.requests[0].selectors[0].cel: Required value',
        'spec.devices.requests[0].selectors[1].cel.expression: Required value',
      ],
    ],
    [
      { 'spec.devices.constraints.0': { requests: ['other', 'other'] } },
      [
        'spec.devices.constraints[0].matchAttribute: Required value',
        'spec.devices.constraints[0].requests[0]: Invalid value: "other": must be the name of a request in the claim',
        'spec.devices.constraints[0].requests[1]: Duplicate value: "other"',
        'spec.devices.constraints[0].requests[1]: Invalid value: "other": must be the name of a request in the claim',
      ],
    ],
    [
      { 'spec.devices.constraints.0.matchAttribute': 'model' },
      ['spec.devices.constraints[0].matchAttribute.domain: Required value: must include a prefix'],
    ],
    [
      { 'spec.devices.constraints.0.matchAttribute': '/9' },
      [
        "spec.devices.constraints[0].matchAttribute: Invalid value: \"9\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
        'spec.devices.constraints[0].matchAttribute: Required value: the prefix must not be empty',
      ],
    ],
    [{ 'spec.devices.config.0': {} }, ['spec.devices.config[0].opaque: Required value']],
    [
      { 'spec.devices.config.0.opaque': { driver: '', parameters: [1] } },
      [
        "spec.devices.config[0].opaque.driver: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.devices.config[0].opaque.driver: Required value',
        'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": parameters must be a valid JSON object',
      ],
    ],
    [
      {
        'spec.controller': 'A b',
        'spec.devices.requests.0.selectors': Array(33).fill({ cel: { expression: 'true' } }),
      },
      [
        "spec.controller: Invalid value: \"A b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.devices.requests[0].selectors: Too long: may not be longer than 32',
      ],
    ],
    [
      {
        'spec.devices.requests': Array.from({ length: 33 }, (_, at) => ({
          name: at === 0 ? 'gpu' : `gpu-${at}`,
          deviceClassName: 'gpu.example.com',
        })),
      },
      ['spec.devices.requests: Too long: may not be longer than 32'],
    ],
    [
      { 'spec.devices.constraints': Array(33).fill({ matchAttribute: 'gpu.example.com/model' }) },
      ['spec.devices.constraints: Too long: may not be longer than 32'],
    ],
    [
      { 'spec.devices.config': Array(33).fill({ opaque: { driver: 'gpu.example.com', parameters: {} } }) },
      ['spec.devices.config: Too long: may not be longer than 32'],
    ],
    [
      { 'spec.devices.config.0.opaque': { driver: 'gpu.example.com' } },
      ['spec.devices.config[0].opaque.parameters: Required value'],
    ],
    [
      { 'spec.devices.config.0.requests': ['constructor'] },
      [
        'spec.devices.config[0].requests[0]: Invalid value: "constructor": must be the name of a request in the claim',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(resourceclaims, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [{ 'spec.devices.requests.0.allocationMode': 'All' }, ['spec: Invalid value: …: field is immutable']],
    [{ 'metadata.labels': { a: 'b' } }, []],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(resourceclaims, good, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<StatusChange>([
    [
      {},
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
        reservedFor: [{ resource: 'pods', name: 'a', uid: '1' }],
      },
      [],
    ],
    [
      {},
      { reservedFor: [{ resource: 'pods', name: 'a', uid: '1' }] },
      ['status.reservedFor: Forbidden: may not be specified when `allocated` is not set'],
    ],
    [
      {},
      { reservedFor: [{}, {}] },
      [
        'status.reservedFor: Forbidden: may not be specified when `allocated` is not set',
        'status.reservedFor[0].name: Required value',
        'status.reservedFor[0].resource: Required value',
        'status.reservedFor[0].uid: Required value',
        'status.reservedFor[1].name: Required value',
        'status.reservedFor[1].resource: Required value',
        'status.reservedFor[1].uid: Duplicate value: ""',
        'status.reservedFor[1].uid: Required value',
      ],
    ],
    [
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
      },
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-1' }],
          },
        },
      },
      ['status.allocation: Invalid value: …: field is immutable'],
    ],
    [
      {},
      {
        allocation: {
          devices: {
            results: [{}],
            config: [{ source: 'Elsewhere', opaque: { driver: 'a.b', parameters: {} } }],
          },
        },
      },
      [
        'status.allocation.devices.config[0].source: Unsupported value: "Elsewhere": supported values: "FromClaim", "FromClass"',
        'status.allocation.devices.results[0].device: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
        "status.allocation.devices.results[0].driver: Invalid value: \"\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'status.allocation.devices.results[0].driver: Required value',
        'status.allocation.devices.results[0].pool: Required value',
        'status.allocation.devices.results[0].request: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
        'status.allocation.devices.results[0].request: Invalid value: "": must be the name of a request in the claim',
      ],
    ],
    [
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
        deallocationRequested: true,
      },
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
      },
      ['status.deallocationRequested: Forbidden: may not be cleared when `allocation` is set'],
    ],
    [
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
        deallocationRequested: true,
      },
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
        deallocationRequested: true,
        reservedFor: [{ resource: 'pods', name: 'a', uid: '1' }],
      },
      [
        'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
      ],
    ],
    [
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
      },
      {
        allocation: {
          devices: {
            results: [{ request: 'gpu', driver: 'gpu.example.com', pool: 'node-1/pool', device: 'gpu-0' }],
          },
        },
        deallocationRequested: true,
        reservedFor: [{ resource: 'pods', name: 'a', uid: '1' }],
      },
      [
        'status.deallocationRequested: Forbidden: deallocation cannot be requested while `reservedFor` is set',
        'status.reservedFor: Forbidden: new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set',
      ],
    ],
    [
      {},
      { deallocationRequested: true },
      ['status: Forbidden: `allocation` must be set when `deallocationRequested` is set'],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(resourceclaims, good, { before, after, view }))).toEqual(lines);
  });

  test('one device is asked for unless more are', () => {
    expect(created(resourceclaims, good).spec).toMatchObject({
      devices: { requests: [{ allocationMode: 'ExactCount', count: 1 }] },
    });
  });

  test('a table shows what has become of a claim', () => {
    const claim = created(resourceclaims, good);
    const stateOf = (status: JsonObject, deletionTimestamp?: string) => {
      const metadata = {
        ...claim.metadata,
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      };
      return resourceclaims.cells({ ...claim, metadata, status }, 0)[1];
    };
    const allocation = {};
    expect(stateOf({})).toBe('pending');
    expect(stateOf({ allocation })).toBe('allocated');
    expect(stateOf({ allocation, reservedFor: [{ name: 'a' }] })).toBe('allocated,reserved');
    expect(stateOf({ allocation }, '2024-01-01T00:00:00Z')).toBe('deleted,allocated,deallocating');
  });
});

describe('templates of claims', () => {
  const good = {
    spec: {
      metadata: { labels: { a: 'b' } },
      spec: {
        devices: {
          requests: [
            { name: 'gpu', deviceClassName: 'gpu.example.com', selectors: [{ cel: { expression: 'true' } }] },
          ],
          constraints: [{ requests: ['gpu'], matchAttribute: 'gpu.example.com/model' }],
          config: [{ requests: ['gpu'], opaque: { driver: 'gpu.example.com', parameters: { a: 1 } } }],
        },
      },
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(resourceclaimtemplates, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.spec.devices.requests.0.name': '' },
      [
        'spec.spec.devices.config[0].requests[0]: Invalid value: "gpu": must be the name of a request in the claim',
        'spec.spec.devices.constraints[0].requests[0]: Invalid value: "gpu": must be the name of a request in the claim',
        'spec.spec.devices.requests[0].name: Invalid value: "": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \'-\', and must start and end with an alphanumeric character',
        'spec.spec.devices.requests[0].name: Required value',
      ],
    ],
    [
      { 'spec.metadata.labels': { 'a b': 'c' } },
      [
        "spec.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.metadata.annotations': { 'a b': 'c' } },
      [
        "spec.metadata.annotations: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(resourceclaimtemplates, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [{ 'spec.metadata.labels': { a: 'c' } }, ['spec: Invalid value: …: field is immutable']],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(resourceclaimtemplates, good, varyAll(good, changes)))).toEqual(lines);
  });
});
