import type { JsonObject } from '../../src/api/object-meta.ts';

/** A version whose schema uses most of what a schema can say. */
export const CRON_V1: JsonObject = {
  name: 'v1',
  served: true,
  storage: true,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          properties: {
            color: { type: 'string', default: 'red', enum: ['red', 'blue'], pattern: '^[a-z]+$' },
            size: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
            any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            labels: { type: 'object', additionalProperties: { type: 'string' } },
            tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
            ports: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
              items: {
                type: 'object',
                required: ['name'],
                properties: { name: { type: 'string' }, port: { type: 'integer', default: 80 } },
              },
            },
            template: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
          anyOf: [{ required: ['color'] }, { properties: { size: { minimum: 1 } } }],
          'x-kubernetes-validations': [
            {
              rule: 'self.color != ""',
              message: 'color it',
              fieldPath: '.color',
              reason: 'FieldValueInvalid',
            },
          ],
        },
        status: { type: 'object', properties: { replicas: { type: 'integer' } } },
      },
    },
  },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
  selectableFields: [{ jsonPath: '.spec.color' }],
};

export const GOOD = {
  metadata: { name: 'crons.stable.example.com' },
  spec: {
    group: 'stable.example.com',
    scope: 'Namespaced',
    names: { plural: 'crons', kind: 'Cron', shortNames: ['ct'], categories: ['all'] },
    versions: [CRON_V1],
  },
};
