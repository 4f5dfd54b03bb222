import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { Refused, Shapes } from '../../../src/cli/transfer/shapes.ts';
import { decodeEnvelope, encodeEnvelope } from '../../../src/codec/protobuf/envelope.ts';
import { parseStored } from '../../../src/codec/stored-object.ts';

const metadata = {
  ...{ name: 'a', namespace: 'default' },
  ...{ uid: '00000000-0000-4000-8000-000000000001', creationTimestamp: '2020-01-01T00:00:00Z' },
};

/** As it is stored, or why it is not taken. */
function shaped(shapes: Shapes, given: JsonObject): JsonObject | string {
  const taken = shapes.take(given);
  return taken instanceof Refused ? taken.reason : parseStored(taken.json);
}

const pod = (more: JsonObject): JsonObject => ({
  ...{ kind: 'Pod', apiVersion: 'v1', metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
});

test('fields that only later versions of Kubernetes have are kept, whichever version the target has', () => {
  const newer = pod({ hostnameOverride: 'shop', unknown: 1 });
  for (const shapes of [new Shapes(), new Shapes({ minor: 36 })])
    expect(shaped(shapes, newer)).toMatchObject({ spec: { hostnameOverride: 'shop' } });
  expect(shaped(new Shapes(), newer)).not.toMatchObject({ spec: { unknown: 1 } });
});

test('an object without later fields is stored as a server of the version stores it, without later defaults', () => {
  const driver = { kind: 'CSIDriver', apiVersion: 'storage.k8s.io/v1', spec: {} };
  const { namespace: _, ...named } = metadata;
  const stored = shaped(new Shapes(), { ...driver, metadata: named });
  expect(stored).toMatchObject({ spec: { attachRequired: true } });
  expect(stored).not.toHaveProperty('spec.preventPodSchedulingIfMissing');
});

test('objects of resources that only later versions have are taken', () => {
  const { namespace: _, ...named } = metadata;
  const policy = {
    ...{ kind: 'MutatingAdmissionPolicy', apiVersion: 'admissionregistration.k8s.io/v1', metadata: named },
    spec: { failurePolicy: 'Ignore', reinvocationPolicy: 'Never' },
  };
  for (const shapes of [new Shapes(), new Shapes({ minor: 36 })])
    expect(shaped(shapes, policy)).toMatchObject({ spec: { failurePolicy: 'Ignore' } });
});

test('a form that servers of the version do not store is refused with the flag that tells the version', () => {
  const claim = { kind: 'ResourceClaim', apiVersion: 'resource.k8s.io/v1', metadata, spec: {} };
  expect(shaped(new Shapes(), claim)).toBe(
    'servers of Kubernetes 1.31 store another form of resource.k8s.io/v1 ResourceClaim: give the --emulated-version of your servers',
  );
  expect(shaped(new Shapes({ minor: 36 }), claim)).toMatchObject({ kind: 'ResourceClaim' });
});

describe('a definition as kube-apiserver keeps it in etcd, in apiextensions.k8s.io/v1beta1,', () => {
  const named = { name: 'widgets.example.com', uid: metadata.uid, creationTimestamp: '2020-01-01T00:00:00Z' };
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' };
  const openAPIV3Schema = { type: 'object', properties: { size: { type: 'integer', default: 3 } } };
  const older = (spec: JsonObject): JsonObject => ({
    ...{ kind: 'CustomResourceDefinition', apiVersion: 'apiextensions.k8s.io/v1beta1', metadata: named },
    spec: { group: 'example.com', names, scope: 'Namespaced', preserveUnknownFields: false, ...spec },
  });
  const versions = [
    { name: 'v1', served: true, storage: true },
    { name: 'v1beta1', served: true, storage: false },
  ];
  const clientConfig = { url: 'https://convert.example.com' };
  const shared = older({
    version: 'v1',
    versions,
    validation: { openAPIV3Schema },
    subresources: { status: {} },
    selectableFields: [{ jsonPath: '.size' }],
    conversion: {
      ...{ strategy: 'Webhook', webhookClientConfig: clientConfig, conversionReviewVersions: ['v1'] },
    },
  });
  const column = { name: 'Size', type: 'integer' };

  test('becomes one of v1, each version with what all have in common', () => {
    const given = { ...shared, spec: { ...(shared.spec as JsonObject) } };
    Object.assign(given.spec, { additionalPrinterColumns: [{ ...column, JSONPath: '.size' }] });
    expect(shaped(new Shapes(), given)).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      spec: {
        versions: versions.map((version) => ({
          ...version,
          schema: { openAPIV3Schema },
          subresources: { status: {} },
          additionalPrinterColumns: [{ ...column, jsonPath: '.size' }],
          selectableFields: [{ jsonPath: '.size' }],
        })),
        conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
      },
    });
  });

  test('is read from protobuf, and its objects are taken behind it', () => {
    const shapes = new Shapes();
    const schema = shapes.schemaOf({
      kind: 'CustomResourceDefinition',
      apiVersion: shared.apiVersion as string,
    });
    if (schema === undefined) throw new Error('there is no schema');
    const given = { ...shared, spec: { ...(shared.spec as JsonObject) } };
    Object.assign(given.spec, { additionalPrinterColumns: [{ ...column, jsonPath: '.size' }] });
    const read = decodeEnvelope(encodeEnvelope(given, schema), schema);
    expect(shaped(shapes, read)).toEqual(
      shaped(new Shapes(), {
        ...given,
        spec: { ...given.spec, additionalPrinterColumns: [{ ...column, JSONPath: '.size' }] },
      }),
    );
    expect(shapes.resourceOf(shared)).toEqual({
      group: 'apiextensions.k8s.io',
      resource: 'customresourcedefinitions',
    });
    const widget = { kind: 'Widget', apiVersion: 'example.com/v1', metadata };
    expect(shaped(shapes, widget)).toMatchObject({ size: 3 });
  });

  test('has its one version by name alone, and keeps unknown fields unless it says that it does not', () => {
    const { preserveUnknownFields: _, ...spec } = older({ version: 'v1' }).spec as JsonObject;
    expect(shaped(new Shapes(), { ...older({}), spec })).toMatchObject({
      spec: { versions: [{ name: 'v1', served: true, storage: true }], preserveUnknownFields: true },
    });
    expect(shaped(new Shapes(), shared)).not.toHaveProperty('spec.preserveUnknownFields');
  });
});

test.each([
  ['Namespace', 'Active'],
  ['PersistentVolume', 'Pending'],
  ['PersistentVolumeClaim', 'Pending'],
])('a %s that kube-apiserver keeps without a phase has the one that it would show', (kind, phase) => {
  const { namespace, ...named } = metadata;
  const of = kind === 'PersistentVolumeClaim' ? { ...named, namespace } : named;
  expect(shaped(new Shapes(), { kind, apiVersion: 'v1', metadata: of, spec: {} })).toMatchObject({
    status: { phase },
  });
});
