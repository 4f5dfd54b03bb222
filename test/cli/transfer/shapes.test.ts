import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/api/object-meta.ts';
import { Refused, Shapes } from '../../../src/cli/transfer/shapes.ts';
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
