import { table } from '../../util/table.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';

const FINALIZERS: Readonly<Record<string, string>> = table({
  persistentvolumes: 'kubernetes.io/pv-protection',
  persistentvolumeclaims: 'kubernetes.io/pvc-protection',
});

/**
 * Gives new volumes and claims the finalizer that keeps them while they are in use; the controllers of volumes remove it
 * (Kubernetes: storage/storageobjectinuseprotection).
 */
export const storageProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  operations: ['CREATE'],
  mutate: ({ definition, subresource, object }) => {
    const finalizer = definition.group === '' ? FINALIZERS[definition.resource] : undefined;
    if (finalizer === undefined || object === undefined || subresource !== '') return;
    const { finalizers = [] } = object.metadata;
    if (!finalizers.includes(finalizer)) object.metadata.finalizers = [...finalizers, finalizer];
  },
};

export const storageProtectionPlugin = describePlugin({
  name: 'StorageObjectInUseProtection',
  isDefault: true,
  create: () => storageProtection,
});
