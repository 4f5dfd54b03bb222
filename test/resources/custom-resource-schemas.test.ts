import { describe, expect, test } from 'vitest';
import { type FieldError, invalid } from '../../src/api/status.ts';
import { FieldPath } from '../../src/object/field-path.ts';
import { customresourcedefinitions } from '../../src/resources/apiextensions/custom-resource-definition.ts';
import { validateStructural } from '../../src/resources/apiextensions/schema/structural.ts';
import { cpuMsOf } from '../kit/cpu-time.ts';
import { GOOD } from '../kit/cron-definition.ts';
import { problemsOnCreate } from '../kit/manifests.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Schemas of custom resources: what a structural one is, and what may be said in it. */

describe('schemas', () => {
  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(customresourcedefinitions, GOOD)).toEqual([]);
  });

  test.each<Variation>([
    [
      { 'spec.versions.0.schema.openAPIV3Schema.type': 'string' },
      [
        'spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
        'spec.validation.openAPIV3Schema.type: Invalid value: "string": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.type': undefined },
      ['spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root'],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.nullable': true },
      [
        'spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root',
        'spec.validation.openAPIV3Schema: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.additionalProperties': { type: 'string' } },
      [
        'spec.validation.openAPIV3Schema.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
        'spec.validation.openAPIV3Schema.additionalProperties: Forbidden: must not be used at the root',
        'spec.validation.openAPIV3Schema: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.maxProperties': 3 },
      [
        'spec.validation.openAPIV3Schema: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.metadata': {
          type: 'object',
          properties: { name: { type: 'string' }, labels: { type: 'object' } },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.metadata': { type: 'string' } },
      ['spec.validation.openAPIV3Schema.properties[metadata].type: Invalid value: "string": must be object'],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.kind': { type: 'integer' } },
      ['spec.validation.openAPIV3Schema.properties[kind].type: Invalid value: "integer": must be string'],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.apiVersion': { type: 'string', default: 'v1' } },
      [
        'spec.validation.openAPIV3Schema.properties[apiVersion].default: Forbidden: must not be set in top-level apiVersion',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {} },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Required value: must not be empty for specified object fields',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': { type: 'array' } },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].items: Required value: must be specified',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': { type: 'array', items: {} } },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].items.type: Required value: must not be empty for specified array items',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'array',
          items: [{ type: 'string' }],
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].items: Forbidden: items must be a schema object and not an array',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': { type: 'text' } },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': { type: 'null' } },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Forbidden: type cannot be set to null, use nullable as an alternative',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'string',
          pattern: 'a(?!b)',
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].pattern: Invalid value: "a(?!b)": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?!`',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'string',
          pattern: '(',
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'array',
          uniqueItems: true,
          items: { type: 'string' },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'object',
          properties: { a: { type: 'string' } },
          additionalProperties: { type: 'string' },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          $ref: '#/x',
          type: 'string',
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].$ref: Forbidden: $ref is not supported',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'string',
          id: 'a',
          definitions: { a: { type: 'string' } },
          patternProperties: { a: { type: 'string' } },
          dependencies: { a: ['b'] },
          additionalItems: true,
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].additionalItems: Forbidden: additionalItems is not supported',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].definitions: Forbidden: definitions is not supported',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].dependencies: Forbidden: dependencies is not supported',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].id: Forbidden: id is not supported',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].patternProperties: Forbidden: patternProperties is not supported',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'string',
          $schema: 'a',
        },
      },
      ['spec.validation.openAPIV3Schema: Invalid value: "": OpenAPIV3Schema \'schema\' is not supported'],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'object',
          'x-kubernetes-preserve-unknown-fields': false,
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          'x-kubernetes-int-or-string': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          'x-kubernetes-embedded-resource': true,
          type: 'string',
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          'x-kubernetes-embedded-resource': true,
          type: 'object',
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          'x-kubernetes-embedded-resource': true,
          type: 'object',
          additionalProperties: true,
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'string',
          allOf: [{ type: 'string', description: 'a', title: 'b', nullable: true, default: 'c' }],
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].allOf[0].default: Forbidden: must be undefined to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].allOf[0].description: Forbidden: must be empty to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].allOf[0].nullable: Forbidden: must be false to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].allOf[0].title: Forbidden: must be empty to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].allOf[0].type: Forbidden: must be empty to be structural',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'object',
          properties: { a: { type: 'string' } },
          oneOf: [{ properties: { metadata: { minLength: 1 } }, additionalProperties: true }],
          not: { 'x-kubernetes-list-type': 'set', 'x-kubernetes-validations': [{ rule: 'x' }] },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].not.type: Required value: must be array if x-kubernetes-list-type is specified',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].not.x-kubernetes-list-type: Forbidden: must be undefined to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].not.x-kubernetes-validations: Forbidden: must be empty to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].oneOf[0].additionalProperties: Forbidden: must be undefined to be structural',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].oneOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.anyOf': [{ properties: { missing: { minimum: 1 } } }] },
      [
        'spec.validation.openAPIV3Schema.properties[missing]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[missing]',
        'spec.validation.openAPIV3Schema: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.template.properties': {
          metadata: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            'x-kubernetes-preserve-unknown-fields': true,
          },
          kind: { type: 'integer' },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[template].properties[kind].type: Invalid value: "integer": must be string',
        'spec.validation.openAPIV3Schema.properties[spec].properties[template].properties[metadata].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.metadata': {
          type: 'object',
          additionalProperties: { type: 'string', default: 'x' },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[metadata].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata',
        'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(customresourcedefinitions, varyAll(GOOD, changes)))).toEqual(lines);
  });

  test('patterns that take long to compile are refused together, without compiling them', () => {
    const patterns = Array.from({ length: 2000 }, (_, at) => [
      `f${at}`,
      { type: 'string', pattern: `^x{${at % 1000}}y{900}$` },
    ]);
    const changes = {
      'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties': Object.fromEntries(patterns),
    };
    let problems: readonly string[] = [];
    const cpuMs = cpuMsOf(() => {
      problems = problemsOnCreate(customresourcedefinitions, varyAll(GOOD, changes));
    });
    expect(problems).toEqual([
      expect.stringMatching(
        /^spec\.versions: Invalid value: the patterns of all schemas may become 60000 instructions together, where each repeat counts: they have \d+$/,
      ),
    ]);
    expect(cpuMs).toBeLessThan(1000);
  });
});

test('the violations of a schema that is not structural come in the order of the sentences', () => {
  const found: FieldError[] = [];
  validateStructural(FieldPath.root(found).field('schema'), {
    type: 'object',
    properties: {
      kind: { type: 'object' },
      apiVersion: { type: 'integer' },
      a: { 'x-kubernetes-embedded-resource': true },
    },
  });
  expect(found.map(({ field }) => field)).toEqual([
    'schema.properties[a].properties',
    'schema.properties[a].type',
    'schema.properties[apiVersion].type',
    'schema.properties[kind].type',
  ]);
});

test('a mistake that is found twice is said once, and is two causes', () => {
  const error = { type: 'FieldValueInvalid', field: 'a', message: 'Invalid value: 1: why' } as const;
  const { status } = invalid({ kind: 'Widget', group: 'example.com' }, 'w', [error, error]);
  expect(status.message).toBe('Widget.example.com "w" is invalid: a: Invalid value: 1: why');
  expect(status.details?.causes).toHaveLength(2);
});
