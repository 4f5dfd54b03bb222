import { expect, test } from 'vitest';
import { denyServiceExternalIps } from '../../src/admission/plugins/deny-external-ips.ts';
import {
  claimResize,
  defaultIngressClass,
  defaultStorageClass,
  storageProtectionPlugin,
} from '../../src/admission/plugins/storage-plugins.ts';
import type { Minor } from '../../src/api/emulation.ts';
import type { JsonObject } from '../../src/api/object-meta.ts';
import { parseFeatureGates } from '../../src/options/feature-gates.ts';
import { attributesOf, FakeCluster, pluginFrom, refusalOf, toObject } from '../kit/admission.ts';

const denyExternalIps = pluginFrom(denyServiceExternalIps, {});
const protectionIn = (minor: Minor, gates: string[] = []) =>
  pluginFrom(storageProtectionPlugin, {
    isFeatureOn: parseFeatureGates(gates, '--feature-gates', minor).isEnabled,
  });
const storageProtection = protectionIn(31);

const STORAGE_DEFAULT = 'storageclass.kubernetes.io/is-default-class';
const INGRESS_DEFAULT = 'ingressclass.kubernetes.io/is-default-class';
const classOf = (name: string, madeAt: string, annotation?: string): JsonObject => ({
  metadata: {
    name,
    creationTimestamp: madeAt,
    annotations: annotation === undefined ? {} : { [annotation]: 'true' },
  },
});

test.each<[string, JsonObject[], JsonObject, string | undefined]>([
  ['no default', [classOf('a', '2026-01-01T00:00:00Z')], {}, undefined],
  [
    'one default',
    [classOf('a', '2026-01-01T00:00:00Z', STORAGE_DEFAULT), classOf('b', '2026-01-02T00:00:00Z')],
    {},
    'a',
  ],
  [
    'two defaults: the newest',
    [
      classOf('a', '2026-01-01T00:00:00Z', STORAGE_DEFAULT),
      classOf('b', '2026-01-02T00:00:00Z', STORAGE_DEFAULT),
    ],
    {},
    'b',
  ],
  [
    'two made at once: by name',
    [
      classOf('b', '2026-01-01T00:00:00Z', STORAGE_DEFAULT),
      classOf('a', '2026-01-01T00:00:00Z', STORAGE_DEFAULT),
    ],
    {},
    'a',
  ],
  [
    'a claim that says which',
    [classOf('a', '2026-01-01T00:00:00Z', STORAGE_DEFAULT)],
    { storageClassName: 'own' },
    'own',
  ],
  [
    'a claim that wants none',
    [classOf('a', '2026-01-01T00:00:00Z', STORAGE_DEFAULT)],
    { storageClassName: '' },
    '',
  ],
])('the storage class of a claim: %s', async (_, storageclasses, spec, expected) => {
  const object = toObject({ spec });
  const plugin = pluginFrom(defaultStorageClass, { objects: new FakeCluster({ storageclasses }) });
  expect(await refusalOf(plugin, attributesOf('persistentvolumeclaims', { object }))).toBeUndefined();
  expect((object.spec as JsonObject).storageClassName).toBe(expected);
});

test('an ingress without a class gets the default one, unless its annotation names one', async () => {
  const ingressclasses = [classOf('front', '2026-01-01T00:00:00Z', INGRESS_DEFAULT)];
  const plugin = pluginFrom(defaultIngressClass, { objects: new FakeCluster({ ingressclasses }) });
  const plain = toObject({ spec: {} });
  const annotated = toObject({
    spec: {},
    metadata: { annotations: { 'kubernetes.io/ingress.class': 'old' } },
  });
  for (const object of [plain, annotated])
    await refusalOf(plugin, attributesOf('networking.k8s.io/ingresses', { object }));
  expect(plain.spec).toEqual({ ingressClassName: 'front' });
  expect(annotated.spec).toEqual({});
});

const claim = (storage: string, storageClassName: string, phase = 'Bound') =>
  toObject({ spec: { storageClassName, resources: { requests: { storage } } }, status: { phase } });

test.each([
  ['smaller', claim('1Gi', 'fixed'), claim('2Gi', 'fixed'), undefined],
  ['larger where the class allows it', claim('2Gi', 'elastic'), claim('1Gi', 'elastic'), undefined],
  [
    'larger before it is bound',
    claim('2Gi', 'elastic'),
    claim('1Gi', 'elastic', 'Pending'),
    'Only bound persistent volume claims can be expanded',
  ],
  [
    'larger where the class does not say so',
    claim('2Gi', 'fixed'),
    claim('1Gi', 'fixed'),
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  ],
])('a claim that becomes %s', async (_, object, old, why) => {
  const storageclasses = [
    { metadata: { name: 'elastic' }, allowVolumeExpansion: true },
    { metadata: { name: 'fixed' } },
  ];
  const plugin = pluginFrom(claimResize, { objects: new FakeCluster({ storageclasses }) });
  const attributes = attributesOf('persistentvolumeclaims', { operation: 'UPDATE', object, old });
  expect(await refusalOf(plugin, attributes)).toBe(
    why === undefined ? undefined : `persistentvolumeclaims "it" is forbidden: ${why}`,
  );
});

test.each([
  ['persistentvolumes', 'kubernetes.io/pv-protection'],
  ['persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
])('new %s are protected, once', async (resource, finalizer) => {
  const object = toObject({ metadata: { finalizers: ['own'] } });
  await refusalOf(storageProtection, attributesOf(resource, { object }));
  await refusalOf(storageProtection, attributesOf(resource, { object }));
  expect(object.metadata.finalizers).toEqual(['own', finalizer]);
});

test.each<[Minor, string[], boolean]>([
  [32, ['VolumeAttributesClass=true'], false],
  [33, [], false],
  [33, ['VolumeAttributesClass=true'], true],
  [34, [], true],
])('a new class of volume attributes of 1.%i with %j is protected: %s', async (minor, gates, isProtected) => {
  const object = toObject({});
  await refusalOf(
    protectionIn(minor, gates),
    attributesOf('storage.k8s.io/volumeattributesclasses', { object }),
  );
  expect(object.metadata.finalizers).toEqual(isProtected ? ['kubernetes.io/vac-protection'] : undefined);
});

test('external addresses stay, and none are added', async () => {
  const service = (...externalIPs: string[]) => toObject({ spec: { externalIPs } });
  const denied = 'services "it" is forbidden: Use of external IPs is denied by admission control';
  const create = attributesOf('services', { object: service('1.2.3.4') });
  expect(await refusalOf(denyExternalIps, create)).toBe(denied);
  const update = (before: string[], after: string[]) =>
    refusalOf(
      denyExternalIps,
      attributesOf('services', { operation: 'UPDATE', old: service(...before), object: service(...after) }),
    );
  expect(await update(['1.2.3.4', '1.2.3.5'], ['1.2.3.5'])).toBeUndefined();
  expect(await update(['1.2.3.4'], ['1.2.3.4', '1.2.3.5'])).toBe(denied);
});
