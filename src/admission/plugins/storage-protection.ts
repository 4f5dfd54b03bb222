import type { AdmissionPlugin } from '../admission.ts';
import { describePlugin } from '../plugin.ts';

/**
 * New volumes and claims get the finalizer that keeps them while something uses them; the controllers of volumes remove it
 * (Kubernetes: storage/storageobjectinuseprotection).
 */
export const storageProtection: AdmissionPlugin = {
  name: 'StorageObjectInUseProtection',
  operations: ['CREATE'],
  mutate: ({ definition, subresource, object }) => {
    const { protection } = definition;
    if (protection === undefined || object === undefined || subresource !== '') return;
    const { finalizers = [] } = object.metadata;
    if (!finalizers.includes(protection)) object.metadata.finalizers = [...finalizers, protection];
  },
};

export const storageProtectionPlugin = describePlugin({
  name: 'StorageObjectInUseProtection',
  isDefault: true,
  create: () => storageProtection,
});
