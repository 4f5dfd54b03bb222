import { type Gates, minorOf } from '../../api/feature-gates.ts';
import { CLAIMS, STORAGE_CLASSES } from '../../api/known-resources.ts';
import type { ResourceOf } from '../../api/names.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { PersistentVolumeClaim } from '../../api/types/core/v1.ts';
import type { Ingress, IngressClass } from '../../api/types/networking/v1.ts';
import { parseQuantity } from '../../object/quantity.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { describePlugin, isWriteOf, type PluginParts, refusal } from '../plugin.ts';

const DEFAULT_STORAGE_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** Gives a claim without a storage class the default one, if there is one (Kubernetes: storage/storageclass/setdefault). */
function createDefaultStorageClass(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow(STORAGE_CLASSES);
  return {
    name: 'DefaultStorageClass',
    operations: ['CREATE'],
    mutate: (attributes) => {
      if (!isWriteOf(attributes, CLAIMS) || attributes.object === undefined) return;
      const { object } = attributes;
      const { spec = {} } = object;
      // An empty name is a choice, too: it means no class.
      if (
        spec.storageClassName !== undefined ||
        object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined
      )
        return;
      const name = newestDefault(classes.in(''), DEFAULT_STORAGE_ANNOTATIONS);
      if (name !== undefined) object.spec = { ...spec, storageClassName: name };
    },
  };
}

export const defaultStorageClass = describePlugin({
  name: 'DefaultStorageClass',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createDefaultStorageClass(objects),
});

const INGRESSES: ResourceOf<Ingress> = { group: 'networking.k8s.io', resource: 'ingresses' };
const CLASSES: ResourceOf<IngressClass> = { group: 'networking.k8s.io', resource: 'ingressclasses' };
const DEFAULT_INGRESS_ANNOTATIONS = ['ingressclass.kubernetes.io/is-default-class'];
/** The annotation that named the class of an ingress before there was a field. */
const INGRESS_CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** Gives an ingress without a class the default one, if there is one (Kubernetes: network/defaultingressclass). */
function createDefaultIngressClass(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow(CLASSES);
  return {
    name: 'DefaultIngressClass',
    operations: ['CREATE'],
    mutate: (attributes) => {
      if (!isWriteOf(attributes, INGRESSES) || attributes.object === undefined) return;
      const { object } = attributes;
      const { spec = {} } = object;
      if (
        spec.ingressClassName !== undefined ||
        object.metadata.annotations?.[INGRESS_CLASS_ANNOTATION] !== undefined
      )
        return;
      const name = newestDefault(classes.in(''), DEFAULT_INGRESS_ANNOTATIONS);
      if (name !== undefined) object.spec = { ...spec, ingressClassName: name };
    },
  };
}

export const defaultIngressClass = describePlugin({
  name: 'DefaultIngressClass',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createDefaultIngressClass(objects),
});

/** The newest class with a default annotation; among equally old ones, the first by name. */
function newestDefault(classes: readonly ApiObject[], annotations: readonly string[]): string | undefined {
  const isDefault = ({ metadata }: ApiObject): boolean =>
    annotations.some((name) => metadata.annotations?.[name] === 'true');
  const madeAt = ({ metadata }: ApiObject): number => Date.parse(metadata.creationTimestamp ?? '');
  const nameOf = ({ metadata }: ApiObject): string => metadata.name ?? '';
  const [newest] = classes
    .filter(isDefault)
    .sort((a, b) => madeAt(b) - madeAt(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
  return newest === undefined ? undefined : nameOf(newest);
}

/** Only bound claims may grow, and only if their storage class allows it (Kubernetes: storage/persistentvolume/resize). */
function createClaimResize(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow(STORAGE_CLASSES);
  const mayGrow = (claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean => {
    const name = storageClassOf(claim);
    if (name === '' || storageClassOf(old) !== name) return false;
    return classes.get('', name)?.allowVolumeExpansion === true;
  };
  return {
    name: 'PersistentVolumeClaimResize',
    operations: ['UPDATE'],
    validate: (attributes) => {
      if (!isWriteOf(attributes, CLAIMS)) return;
      const { object, old } = attributes;
      if (object === undefined || old === undefined) return;
      if (sizeOf(object) <= sizeOf(old)) return;
      if (old.status?.phase !== 'Bound')
        throw refusal(attributes, 'Only bound persistent volume claims can be expanded');
      if (!mayGrow(object, old))
        throw refusal(
          attributes,
          'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
        );
    },
  };
}

/** In billionths of a byte. */
function sizeOf({ spec }: PersistentVolumeClaim): bigint {
  const size = spec?.resources?.requests?.storage;
  return size === undefined ? 0n : (parseQuantity(size)?.nanos ?? 0n);
}

export const claimResize = describePlugin({
  name: 'PersistentVolumeClaimResize',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createClaimResize(objects),
});

/** The annotation that named the class of a claim before there was a field. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** The storage class of a claim; empty for none. */
export const storageClassOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '';

/**
 * Gives new volumes and claims, and since 1.33 their classes of attributes, the finalizer that keeps them while they are in
 * use; the controllers of volumes remove it (Kubernetes: storage/storageobjectinuseprotection).
 */
const createStorageProtection = (isOn: Gates): AdmissionPlugin => ({
  name: 'StorageObjectInUseProtection',
  operations: ['CREATE'],
  mutate: ({ definition, subresource, object }) => {
    const { protection, resource } = definition;
    if (protection === undefined || object === undefined || subresource !== '') return;
    if (resource === 'volumeattributesclasses' && !protectsAttributesClasses(isOn)) return;
    const { finalizers = [] } = object.metadata;
    if (!finalizers.includes(protection)) object.metadata.finalizers = [...finalizers, protection];
  },
});

const protectsAttributesClasses = (isOn: Gates): boolean =>
  minorOf(isOn) >= 33 && isOn('VolumeAttributesClass');

export const storageProtectionPlugin = describePlugin({
  name: 'StorageObjectInUseProtection',
  isDefault: true,
  create: ({ isFeatureOn }: Pick<PluginParts, 'isFeatureOn'>) => createStorageProtection(isFeatureOn),
});
