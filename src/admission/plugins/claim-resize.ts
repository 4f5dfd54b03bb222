import type { ApiObject } from '../../api/object-meta.ts';
import { part } from '../../object/parts.ts';
import { parseQuantity } from '../../object/quantity.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { refusal } from '../refusal.ts';
import { storageClassOf } from './claim-class.ts';

/** Only bound claims grow, and only where their storage class says so (Kubernetes: storage/persistentvolume/resize). */
export function createClaimResize(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow({ group: 'storage.k8s.io', resource: 'storageclasses' });
  const mayGrow = (claim: ApiObject, old: ApiObject): boolean => {
    const name = storageClassOf(claim);
    if (name === '' || storageClassOf(old) !== name) return false;
    return classes.get('', name)?.allowVolumeExpansion === true;
  };
  return {
    name: 'PersistentVolumeClaimResize',
    operations: ['UPDATE'],
    validate: (attributes) => {
      const { definition, subresource, object, old } = attributes;
      if (definition.resource !== 'persistentvolumeclaims' || definition.group !== '') return;
      if (object === undefined || old === undefined || subresource !== '') return;
      if (sizeOf(object) <= sizeOf(old)) return;
      if (part(old, 'status').phase !== 'Bound')
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
function sizeOf(claim: ApiObject): bigint {
  const size = part(claim, 'spec', 'resources', 'requests').storage;
  return size === undefined ? 0n : (parseQuantity(String(size))?.nanos ?? 0n);
}
