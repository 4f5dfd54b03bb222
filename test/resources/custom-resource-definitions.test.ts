import { describe, expect, test } from 'vitest';
import type { Minor } from '../../src/api/emulation.ts';
import type { ApiObject, JsonObject } from '../../src/api/object-meta.ts';
import { customresourcedefinitions } from '../../src/resources/apiextensions/custom-resource-definition.ts';
import { CRON_V1, GOOD } from '../kit/cron-definition.ts';
import {
  created,
  manifestsIn,
  problemsOnCreate,
  problemsOnUpdate,
  problemsOnView,
} from '../kit/manifests.ts';
import { type StatusChange, shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Definitions of custom resources: names, versions, how they are converted and shown. */

const WEBHOOK = {
  strategy: 'Webhook',
  webhook: {
    conversionReviewVersions: ['v1'],
    clientConfig: { service: { namespace: 'a', name: 'b' }, caBundle: 'eA==' },
  },
};

describe('definitions', () => {
  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(customresourcedefinitions, GOOD)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'metadata.name': 'crons' },
      ['metadata.name: Invalid value: "crons": must be spec.names.plural+"."+spec.group'],
    ],
    [
      { 'spec.group': 'example', 'metadata.name': 'crons.example' },
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    [
      { 'spec.group': '', 'metadata.name': 'crons.' },
      [
        "metadata.name: Invalid value: \"crons.\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.group: Required value',
      ],
    ],
    [
      { 'spec.group': 'A.b' },
      [
        'metadata.name: Invalid value: "crons.stable.example.com": must be spec.names.plural+"."+spec.group',
        "spec.group: Invalid value: \"A.b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ],
    ],
    [
      { 'spec.scope': 'World' },
      ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
    ],
    [{ 'spec.scope': '' }, ['spec.scope: Required value']],
    [
      { 'spec.names.kind': 'cron_', 'spec.names.listKind': 'cron_' },
      [
        'spec.names.kind: Invalid value: "cron_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'spec.names.listKind: Invalid value: "cron_": kind and listKind may not be the same',
        'spec.names.listKind: Invalid value: "cron_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'spec.names.singular: Invalid value: "cron_": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.names.kind': 'Cron', 'spec.names.listKind': 'Cron', 'spec.names.singular': 'Cron' },
      [
        'spec.names.listKind: Invalid value: "Cron": kind and listKind may not be the same',
        'spec.names.singular: Invalid value: "Cron": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.names.shortNames': ['A'], 'spec.names.categories': ['B'] },
      [
        'spec.names.categories[0]: Invalid value: "B": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'spec.names.shortNames[0]: Invalid value: "A": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.names.plural': '', 'metadata.name': '.stable.example.com' },
      [
        "metadata.name: Invalid value: \".stable.example.com\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        'spec.names.plural: Required value',
      ],
    ],
    [
      { 'spec.versions.0.name': 'V1' },
      [
        'spec.version: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'spec.versions[0].name: Invalid value: "V1": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { 'spec.versions.0.storage': false },
      [
        'spec.versions: Invalid value: …: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
      ],
    ],
    [
      { 'spec.versions': [] },
      [
        'spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{}: must have exactly one version marked as storage version',
        'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
      ],
    ],
    [
      { 'spec.preserveUnknownFields': true },
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
        'spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema',
      ],
    ],
    [
      { 'spec.versions.0.schema': undefined },
      [
        'spec.selectableFields: Invalid value: "": selectableFields may only be set when validations.schema is included',
        'spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required',
      ],
    ],
    [
      { 'spec.versions.0.deprecationWarning': 'old' },
      ['spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions'],
    ],
    [
      { 'spec.versions.0.deprecated': true, 'spec.versions.0.deprecationWarning': '' },
      ['spec.versions[0].deprecationWarning: Invalid value: "": must not be an empty string'],
    ],
    [
      { 'spec.versions.0.deprecated': true, 'spec.versions.0.deprecationWarning': 'a	b' },
      [
        'spec.versions[0].deprecationWarning: Invalid value: "a\\tb": must only contain printable UTF-8 characters; non-printable character found at index 1',
      ],
    ],
    [
      {
        'spec.versions.0.additionalPrinterColumns': [
          { name: '', type: 'text', format: 'loud', jsonPath: 'spec' },
          { name: 'a', type: '', jsonPath: '' },
        ],
      },
      [
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "spec": must be a simple json path starting with .',
        'spec.additionalPrinterColumns[0].format: Invalid value: "loud": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].name: Required value',
        'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[1].JSONPath: Required value',
        'spec.additionalPrinterColumns[1].type: Required value: must be one of boolean,date,integer,number,string',
      ],
    ],
    [
      {
        'spec.versions.0.subresources.scale': {
          specReplicasPath: '.status.a',
          statusReplicasPath: 'status',
          labelSelectorPath: '.metadata.a',
        },
      },
      [
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".metadata.a": should be a json path under either .spec or .status',
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Invalid value: "status": must be a simple json path starting with .',
      ],
    ],
    [
      { 'spec.versions.0.subresources.scale': { specReplicasPath: '', statusReplicasPath: '' } },
      [
        'spec.subresources.scale.specReplicasPath: Required value',
        'spec.subresources.scale.statusReplicasPath: Required value',
      ],
    ],
    [
      {
        'spec.versions.0.selectableFields': [
          { jsonPath: 'spec' },
          { jsonPath: '.spec.nothing' },
          { jsonPath: '.spec.any' },
          { jsonPath: '.spec.color' },
          { jsonPath: '.spec.color' },
          { jsonPath: ".spec['color']" },
          { jsonPath: '.spec.' },
        ],
      },
      [
        'spec.selectableFields[0].jsonPath: Invalid value: "spec": is an invalid path: expected [ or . but got: spec',
        'spec.selectableFields[1].jsonPath: Invalid value: ".spec.nothing": is an invalid path: does not refer to a valid field',
        'spec.selectableFields[2].jsonPath: Invalid value: ".spec.any": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        'spec.selectableFields[4].jsonPath: Duplicate value: ".spec.color"',
        'spec.selectableFields[5].jsonPath: Invalid value: ".spec[\'color\']": is an invalid path: array notation is not allowed',
        'spec.selectableFields[6].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path',
      ],
    ],
    [
      { 'spec.conversion': { strategy: 'Magic' } },
      ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
    ],
    [
      { 'spec.conversion': { strategy: 'Webhook' } },
      [
        'spec.conversion.conversionReviewVersions: Required value',
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
      ],
    ],
    [
      {
        'spec.conversion': {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v7'], clientConfig: {} },
        },
      },
      [
        'spec.conversion.conversionReviewVersions: Invalid value: []string{"v7"}: must include at least one of v1, v1beta1',
        'spec.conversion.webhookClientConfig: Required value: exactly one of url or service is required',
      ],
    ],
    [
      {
        'spec.conversion': {
          strategy: 'None',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { namespace: 'a', name: 'b' } },
          },
        },
      },
      [
        'spec.conversion.conversionReviewVersions: Forbidden: should not be set when strategy is not set to Webhook',
        'spec.conversion.webhookClientConfig: Forbidden: should not be set when strategy is not set to Webhook',
      ],
    ],
    [
      { 'spec.group': 'apps.k8s.io', 'metadata.name': 'crons.apps.k8s.io' },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      {
        'spec.group': 'apps.k8s.io',
        metadata: { name: 'crons.apps.k8s.io', annotations: { 'api-approved.kubernetes.io': 'sure' } },
      },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Invalid value: "sure": protected groups must have approval annotation "api-approved.kubernetes.io" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      { 'spec.versions.0.deprecated': true, 'spec.versions.0.deprecationWarning': 'é'.repeat(129) },
      [
        `spec.versions[0].deprecationWarning: Invalid value: "${'é'.repeat(129)}": must be <= 256 characters long`,
      ],
    ],
    [
      { 'spec.versions.1': { ...CRON_V1, storage: false } },
      ['spec.versions: Invalid value: …: must contain unique version names'],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(customresourcedefinitions, varyAll(GOOD, changes)))).toEqual(lines);
  });

  test.each<Variation>([
    [{ 'spec.scope': 'Cluster' }, []],
    [
      {
        'spec.names.plural': 'crontabs',
        'spec.group': 'other.example.com',
        'metadata.name': 'crons.stable.example.com',
      },
      [
        'metadata.name: Invalid value: "crons.stable.example.com": must be spec.names.plural+"."+spec.group',
        'spec.group: Invalid value: "other.example.com": field is immutable',
        'spec.names.plural: Invalid value: "crontabs": field is immutable',
      ],
    ],
    [
      {
        'spec.conversion': {
          strategy: 'Webhook',
          webhook: {
            conversionReviewVersions: ['v1'],
            clientConfig: { service: { namespace: 'a', name: 'b' } },
          },
        },
      },
      [],
    ],
    [
      { 'spec.versions.0.name': 'v2' },
      ['status.storedVersions[0]: Invalid value: "v1": must appear in spec.versions'],
    ],
  ])('an update to %j is answered as Kubernetes does', (changes, lines) => {
    expect(shortened(problemsOnUpdate(customresourcedefinitions, GOOD, varyAll(GOOD, changes)))).toEqual(
      lines,
    );
  });

  test.each<StatusChange>([
    [
      { storedVersions: ['v1'] },
      { storedVersions: ['v1'], acceptedNames: { plural: 'crons', kind: 'Cron' } },
      [],
    ],
    [
      { storedVersions: ['v1'] },
      { storedVersions: [], acceptedNames: { plural: 'A', kind: '9' } },
      [
        'status.acceptedNames.kind: Invalid value: "9": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
        'status.acceptedNames.plural: Invalid value: "A": a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
      ],
    ],
    [
      { storedVersions: ['v1'] },
      { storedVersions: ['v0'] },
      [
        'status.storedVersions: Invalid value: []string{"v0"}: must have the storage version v1',
        'status.storedVersions[0]: Invalid value: "v0": must appear in spec.versions',
      ],
    ],
  ])('a status that goes from %j to %j is answered as Kubernetes does', (before, after, lines, view) => {
    expect(shortened(problemsOnView(customresourcedefinitions, GOOD, { before, after, view }))).toEqual(
      lines,
    );
  });

  test('names that follow from others are filled in, and nothing is converted unless it is said how', () => {
    expect(created(customresourcedefinitions, GOOD).spec).toMatchObject({
      names: { plural: 'crons', singular: 'cron', kind: 'Cron', listKind: 'CronList' },
      conversion: { strategy: 'None' },
    });
  });

  test('the version objects are stored in is remembered, and so are those before it', () => {
    const old = created(customresourcedefinitions, GOOD);
    expect(old.status).toEqual({
      conditions: null,
      acceptedNames: { plural: '', kind: '' },
      storedVersions: ['v1'],
    });
    const next = structuredClone(old);
    next.spec = {
      ...GOOD.spec,
      versions: [
        { ...CRON_V1, storage: false },
        { ...CRON_V1, name: 'v2' },
      ],
    };
    customresourcedefinitions.strategy.prepareForUpdate?.(next, old);
    expect(next.status).toMatchObject({ storedVersions: ['v1', 'v2'] });
    expect(old.status).toMatchObject({ storedVersions: ['v1'] });
  });

  test('kind and scope stay once objects can be there, and certificates must be readable then', () => {
    const established = (definition: JsonObject): ApiObject => {
      const object = created(customresourcedefinitions, definition);
      const status = { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] };
      return { ...object, status };
    };
    const changed = varyAll(GOOD, {
      'spec.names.kind': 'Job',
      'spec.scope': 'Cluster',
      'spec.conversion': WEBHOOK,
    });
    const errors = customresourcedefinitions.strategy.validateUpdate?.(
      established(changed),
      established(GOOD),
    );
    expect(errors?.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Job": field is immutable',
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "eA==": unable to load root certificates: unable to parse bytes as PEM block',
    ]);
  });

  test('what differs between versions is named where it stands, what does not is named once', () => {
    const bare = { type: 'object', properties: { spec: {} } };
    const second = {
      ...CRON_V1,
      name: 'v2',
      storage: false,
      selectableFields: [],
      schema: { openAPIV3Schema: bare },
    };
    const two = varyAll(GOOD, { 'spec.versions': [CRON_V1, second] });
    expect(problemsOnCreate(customresourcedefinitions, two)).toEqual([
      'spec.versions[1].schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields',
    ]);
  });
});

const REMOVED =
  'missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions';

test.each<[Minor, string]>([
  [32, 'must appear in spec.versions'],
  [33, REMOVED],
])('1.%i says why a stored version cannot go', (minor, why) => {
  const changed = varyAll(GOOD, { 'spec.versions.0.name': 'v2' });
  expect(manifestsIn(minor).problemsOnUpdate(customresourcedefinitions, GOOD, changed)).toContain(
    `status.storedVersions[0]: Invalid value: "v1": ${why}`,
  );
});

test.each<[Minor, string, string, string]>([
  [33, 'message ', 'fieldPath ', ': schemas are required'],
  [34, '', '', ''],
])('1.%i names a field in its error or does not', (minor, message, fieldPath, schemas) => {
  const rules = [
    { rule: 'true', message: ' ', fieldPath: ' ' },
    { rule: 'true', message: 'a\nb', fieldPath: '.none' },
  ];
  const schema = 'spec.versions.0.schema';
  const { problemsOnCreate: problems } = manifestsIn(minor);
  const found = problems(
    customresourcedefinitions,
    varyAll(GOOD, { [`${schema}.openAPIV3Schema.x-kubernetes-validations`]: rules }),
  );
  const lines = [
    `[0].message: Invalid value: " ": ${message}must be non-empty if specified`,
    `[0].fieldPath: Invalid value: " ": ${fieldPath}must be non-empty if specified`,
    `[1].message: Invalid value: "a\\nb": ${message}must not contain line breaks`,
    `[1].fieldPath: Invalid value: ".none": ${fieldPath}must be a valid path`,
  ];
  for (const line of lines)
    expect(
      found.some((one) => one.endsWith(line)),
      line,
    ).toBe(true);
  const bare = problems(customresourcedefinitions, varyAll(GOOD, { [schema]: undefined }));
  expect(bare).toContain(`spec.versions[0].schema.openAPIV3Schema: Required value${schemas}`);
});
