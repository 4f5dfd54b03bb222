import { describe, expect, test } from 'vitest';
import { customresourcedefinitions } from '../../src/resources/apiextensions/custom-resource-definition.ts';
import { GOOD } from '../kit/cron-definition.ts';
import { problemsOnCreate } from '../kit/manifests.ts';
import { shortened, type Variation } from '../kit/variation-tables.ts';
import { varyAll } from '../kit/variations.ts';

/** Lists, rules and defaults in the schemas of custom resources. */

describe('lists, rules and defaults', () => {
  test('one that is right in all its fields is taken', () => {
    expect(problemsOnCreate(customresourcedefinitions, GOOD)).toEqual([]);
  });

  test.each<Variation>([
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.tags': {
          type: 'array',
          'x-kubernetes-list-type': 'set',
          items: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[tags].items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.tags': {
          type: 'array',
          'x-kubernetes-list-type': 'set',
          items: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[tags].items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.tags': {
          type: 'array',
          'x-kubernetes-list-type': 'bag',
          items: { type: 'string' },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[tags].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.tags': {
          type: 'string',
          'x-kubernetes-list-type': 'atomic',
          'x-kubernetes-map-type': 'odd',
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[tags].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
        'spec.validation.openAPIV3Schema.properties[spec].properties[tags].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
        'spec.validation.openAPIV3Schema.properties[spec].properties[tags].x-kubernetes-map-type: Unsupported value: "odd": supported values: "atomic", "granular"',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.ports': {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          items: { type: 'string' },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.ports': {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a', 'b', 'b', 'c'],
          items: {
            type: 'object',
            nullable: true,
            properties: {
              a: { type: 'array', items: { type: 'string' } },
              b: { type: 'string', nullable: true },
            },
          },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[a].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[b].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[b].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[b].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].x-kubernetes-list-map-keys: Invalid value: []string{"a", "b", "b", "c"}: entries must all be names of item properties',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].x-kubernetes-list-map-keys: Invalid value: []string{"a", "b", "b", "c"}: must not contain duplicate entries',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.ports': {
          type: 'array',
          'x-kubernetes-list-map-keys': ['a'],
          items: { type: 'object' },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.x-kubernetes-validations': [
          { rule: ' ' },
          { rule: 'a', message: ' ' },
          { rule: 'a\nb' },
          { rule: 'a', message: 'x\ny', messageExpression: ' ' },
          { rule: 'a', reason: 'Odd', fieldPath: '.nothing' },
          { rule: 'a', fieldPath: 'color' },
        ],
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1].message: Invalid value: " ": message must be non-empty if specified',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[2].message: Required value: message must be specified if rule contains line breaks',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[3].message: Invalid value: "x\\ny": message must not contain line breaks',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[3].messageExpression: Required value: messageExpression must be non-empty if specified',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[4].fieldPath: Invalid value: ".nothing": fieldPath must be a valid path',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[4].reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[5].fieldPath: Invalid value: "color": fieldPath must be a valid path',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.color.default': 'green' },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[color].default: Unsupported value: "green": supported values: "red", "blue"',
      ],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.color.default': 5 },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[color].default: Invalid value: "integer":  in body must be of type string: "integer"',
        'spec.validation.openAPIV3Schema.properties[spec].properties[color].default: Unsupported value: 5: supported values: "red", "blue"',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'object',
          properties: { a: { type: 'integer', maximum: 3 } },
          default: { a: 4, b: 1 },
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].default.a: Invalid value: 4: a in body should be less than or equal to 3',
        'spec.validation.openAPIV3Schema.properties[spec].properties[x].default: Invalid value: map[string]interface {}{"a":4, "b":1}: must not have unknown fields',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.ports.items.properties.port.default':
          'x',
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items.properties[port].default: Invalid value: "string":  in body must be of type integer: "string"',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x': {
          type: 'object',
          required: ['a'],
          properties: { a: { type: 'string', minLength: 2 } },
          default: {},
        },
      },
      ['spec.validation.openAPIV3Schema.properties[spec].properties[x].default.a: Required value'],
    ],
    [
      { 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.template.default': { kind: 'A' } },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[template].default.apiVersion: Required value: must not be empty',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.ports': {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items: Required value: must be specified',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items: Required value: must have a schema if x-kubernetes-list-type is map',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.ports': {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
          items: [{ type: 'string' }],
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items: Forbidden: items must be a schema object and not an array',
        'spec.validation.openAPIV3Schema.properties[spec].properties[ports].items: Invalid value: [{"type":"string"}]: must only have a single schema if x-kubernetes-list-type is map',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.x-kubernetes-validations': [
          { rule: 'a', fieldPath: ' ' },
          { rule: 'a', fieldPath: '.color\n' },
          { rule: 'a', fieldPath: "['color'" },
          { rule: 'a', fieldPath: "['color']" },
        ],
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: Invalid value: " ": fieldPath must be a valid path',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].fieldPath: Invalid value: " ": fieldPath must be non-empty if specified',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1].fieldPath: Invalid value: ".color\\n": fieldPath must be a valid path',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[1].fieldPath: Invalid value: ".color\\n": fieldPath must not contain line breaks',
        'spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[2].fieldPath: Invalid value: "[\'color\'": fieldPath must be a valid path',
      ],
    ],
    [
      {
        'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.template.default': {
          kind: 1,
          apiVersion: '',
        },
      },
      [
        'spec.validation.openAPIV3Schema.properties[spec].properties[template].default.apiVersion: Invalid value: "": must not be empty',
        'spec.validation.openAPIV3Schema.properties[spec].properties[template].default.kind: Invalid value: 1: must be a string',
      ],
    ],
  ])('%j is refused', (changes, lines) => {
    expect(shortened(problemsOnCreate(customresourcedefinitions, varyAll(GOOD, changes)))).toEqual(lines);
  });

  test('a default may be anything where all fields are kept, the objects in its lists too', () => {
    const x = { 'x-kubernetes-preserve-unknown-fields': true, default: [{ a: [{ b: 1 }] }] };
    const path = 'spec.versions.0.schema.openAPIV3Schema.properties.spec.properties.x';
    expect(problemsOnCreate(customresourcedefinitions, varyAll(GOOD, { [path]: x }))).toEqual([]);
  });
});
