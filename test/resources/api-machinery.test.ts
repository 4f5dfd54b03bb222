import { describe, expect, test } from 'vitest';
import { apiservices } from '../../src/resources/apiregistration/api-service.ts';
import { storageversions } from '../../src/resources/apiserverinternal/storage-version.ts';
import { storageversionmigrations } from '../../src/resources/storagemigration/storage-version-migration.ts';
import { created, problemsOnCreate, problemsOnUpdate, problemsOnView } from '../kit/manifests.ts';
import { type StatusChange, shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Who serves which API, and in which version objects are stored. */

describe('API services', () => {
  const good = {
    metadata: { name: 'v1.example.com' },
    spec: {
      group: 'example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 10,
      service: { namespace: 'default', name: 'api' },
    },
  };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(apiservices, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'metadata.name': 'v2.example.com' },
      [
        'metadata.name: Invalid value: "v2.example.com": must be `spec.version+"."+spec.group`: "v1.example.com"',
      ],
    ],
    [
      { 'spec.group': '', 'metadata.name': 'v1.', 'spec.version': 'v2' },
      [
        'metadata.name: Invalid value: "v1.": must be `spec.version+"."+spec.group`: "v2."',
        'spec.group: Required value: only v1 may have an empty group and it better be legacy kube',
      ],
    ],
    [
      { 'spec.group': 'A', 'spec.version': 'V', 'metadata.name': 'V.A' },
      [
        "spec.group: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.version: Invalid value: "V": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.groupPriorityMinimum': 0, 'spec.versionPriority': 1001 },
      [
        'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000',
        'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000',
      ],
    ],
    [
      { 'spec.service': { port: 70000 } },
      [
        'spec.service.name: Required value',
        'spec.service.namespace: Required value',
        'spec.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive',
      ],
    ],
    [
      { 'spec.insecureSkipTLSVerify': true, 'spec.caBundle': 'eA==' },
      ['spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
    ],
    [
      { 'spec.service': undefined, 'spec.insecureSkipTLSVerify': true, 'spec.caBundle': 'eA==' },
      [
        'spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle',
        'spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(apiservices, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<StatusChange>([
    [
      {},
      { conditions: [{ type: 'Available', status: 'Maybe' }] },
      [
        'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
      ],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(apiservices, good, { before, after, view }))).toEqual(lines);
  });

  test('one that is served here is available from the start, one of another server is not', () => {
    const local = created(apiservices, varyAll(good, { 'spec.service': undefined }));
    expect(local.status).toMatchObject({
      conditions: [{ type: 'Available', status: 'True', reason: 'Local' }],
    });
    expect(apiservices.cells(local, 0)).toEqual(['v1.example.com', 'Local', 'True', '<unknown>']);
    const remote = created(apiservices, good);
    expect(remote.status).toEqual({});
    expect(apiservices.cells(remote, 0)).toEqual(['v1.example.com', 'default/api', 'Unknown', '<unknown>']);
  });
});

describe('storage version migrations', () => {
  const good = { spec: { resource: { group: 'apps', version: 'v1', resource: 'deployments' } } };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(storageversionmigrations, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.resource': {} },
      [
        'spec.resource.resource: Required value: resource is required',
        'spec.resource.version: Required value: version is required',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(storageversionmigrations, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [
      { 'spec.resource': { group: 'batch', version: 'v2', resource: 'jobs' } },
      [
        'group: Invalid value: "batch": field is immutable',
        'resource: Invalid value: "jobs": field is immutable',
        'version: Invalid value: "v2": field is immutable',
      ],
    ],
    [{ 'spec.continueToken': 'x' }, []],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(storageversionmigrations, good, varyAll(good, changes)))).toEqual(
      lines,
    );
  });

  test.each<StatusChange>([
    [
      {},
      {
        resourceVersion: '5',
        conditions: [
          { type: 'Running', status: 'True', lastUpdateTime: '2024-01-01T00:00:00Z', reason: 'Started' },
        ],
      },
      [],
    ],
    [
      { resourceVersion: '5' },
      { resourceVersion: 'x' },
      [
        'status.resourceVersion: Invalid value: "x": failed to parse resource version "x": strconv.ParseInt: parsing "x": invalid syntax',
        'status.resourceVersion: Invalid value: "x": resourceVersion cannot be updated',
      ],
    ],
    [
      {},
      { resourceVersion: '-5' },
      ['status.resourceVersion: Invalid value: -5: must be greater than or equal to 0'],
    ],
    [
      { conditions: [{ type: 'Succeeded', status: 'True' }] },
      { conditions: [{ type: 'Running', status: 'Perhaps' }] },
      [
        'status.conditions: Invalid value: [{"type":"Running","status":"Perhaps"}]: Success condition cannot be set to false once it is true',
        'status.conditions[0].lastTransitionTime: Required value: must be set',
        'status.conditions[0].reason: Required value: must be set',
        'status.conditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"',
      ],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(storageversionmigrations, good, { before, after, view }))).toEqual(lines);
  });

  test('a migration ends one way, and runs no longer then', () => {
    const condition = (type: string) => ({
      type,
      status: 'True',
      lastUpdateTime: '2024-01-01T00:00:00Z',
      reason: 'A',
    });
    const after = { conditions: ['Running', 'Succeeded', 'Failed'].map(condition) };
    const lines = problemsOnView(storageversionmigrations, good, { before: {}, after, view: 'status' });
    expect(lines.map((line) => line.replace(/\[.*\]/, '…'))).toEqual([
      'status.conditions: Invalid value: …: Both success and failed conditions cannot be true at the same time',
      'status.conditions: Invalid value: …: Running condition cannot be true when failed condition is true',
      'status.conditions: Invalid value: …: Running condition cannot be true when success condition is true',
    ]);
  });
});

describe('storage versions', () => {
  const good = { metadata: { name: 'apps.deployments' } };

  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(storageversions, good)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'metadata.name': 'deployments' },
      ['metadata.name: Invalid value: "deployments": name must be in the form of <group>.<resource>'],
    ],
    [
      { 'metadata.name': 'Apps.9' },
      [
        "metadata.name: Invalid value: \"Apps.9\": the group segment a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'metadata.name: Invalid value: "Apps.9": the resource segment a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(storageversions, varyAll(good, changes)))).toEqual(lines);
  });

  test.each<StatusChange>([
    [
      {},
      {
        storageVersions: [
          {
            apiServerID: 'a',
            encodingVersion: 'apps/v1',
            decodableVersions: ['apps/v1'],
            servedVersions: ['apps/v1'],
          },
        ],
        commonEncodingVersion: 'apps/v1',
      },
      [],
    ],
    [
      {},
      {
        storageVersions: [
          {
            apiServerID: 'A',
            encodingVersion: 'apps/v1/x',
            decodableVersions: ['/V'],
            servedVersions: ['apps/v2'],
          },
          { apiServerID: 'A', encodingVersion: 'apps/v1', decodableVersions: ['apps/v1'] },
        ],
        commonEncodingVersion: 'apps/v1',
      },
      [
        'status.commonEncodingVersion: Invalid value: "apps/v1": should be nil if servers do not agree on the same encoding version, or if there is no server reporting the supported versions yet',
        "status.storageVersions[0].apiServerID: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'status.storageVersions[0].decodableVersions: Invalid value: []string{"/V"}: decodableVersions must include encodingVersion apps/v1/x',
        'status.storageVersions[0].decodableVersions[0]: Invalid value: "/V": group part: must be non-empty,version part: a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'status.storageVersions[0].encodingVersion: Invalid value: "apps/v1/x": an apiVersion is a DNS-1035 label, which must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'status.storageVersions[0].servedVersions[0]: Invalid value: "apps/v2": individual served version : apps/v2 must be included in decodableVersions : [/V]',
        'status.storageVersions[1].apiServerID: Duplicate value: "A"',
        "status.storageVersions[1].apiServerID: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      {},
      { storageVersions: [{ apiServerID: 'a', encodingVersion: 'apps/v1', decodableVersions: ['apps/v1'] }] },
      ['status.commonEncodingVersion: Invalid value: "null": the common encoding version is apps/v1'],
    ],
    [
      {},
      {
        conditions: [
          { type: 'A', status: 'True', reason: '', message: '' },
          { type: 'A', status: 'True', reason: 'r', message: 'm' },
        ],
      },
      [
        'status[0].message: Required value: message cannot be empty',
        'status[0].reason: Required value: reason cannot be empty',
        'status[1].type: Invalid value: "A": the type of the condition is not unique, it also appears in conditions[0]',
      ],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(storageversions, good, { before, after, view }))).toEqual(lines);
  });

  test('a table shows three servers and counts the others', () => {
    const servers = ['a', 'b', 'c', 'd', 'e'].map((apiServerID) => ({ apiServerID, encodingVersion: 'v1' }));
    const storage = { ...created(storageversions, good), status: { storageVersions: servers } };
    expect(storageversions.cells(storage, 0).slice(1, 3)).toEqual(['<unset>', 'a=v1,b=v1,c=v1 + 2 more...']);
  });
});
