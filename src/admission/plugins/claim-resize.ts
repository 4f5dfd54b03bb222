import type { PersistentVolumeClaim } from '../../api/types/core/v1.ts';
import { parseQuantity } from '../../object/quantity.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { describePlugin, type PluginParts } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import { CLAIMS, STORAGE_CLASSES } from '../resources.ts';
import { isWriteOf } from '../write-of.ts';
import { storageClassOf } from './claim-class.ts';

/** Only bound claims grow, and only where their storage class says so (Kubernetes: storage/persistentvolume/resize). */
export function createClaimResize(objects: ClusterObjects): AdmissionPlugin {
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
