import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { describePlugin, type PluginParts } from '../plugin.ts';
import { CLAIMS, STORAGE_CLASSES } from '../resources.ts';
import { isWriteOf } from '../write-of.ts';
import { CLASS_ANNOTATION } from './claim-class.ts';
import { newestDefault } from './newest-default.ts';

const DEFAULT_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

/** A claim that names no storage class gets the default one, if there is one (Kubernetes: storage/storageclass/setdefault). */
export function createDefaultStorageClass(objects: ClusterObjects): AdmissionPlugin {
  const classes = objects.follow(STORAGE_CLASSES);
  return {
    name: 'DefaultStorageClass',
    operations: ['CREATE'],
    mutate: (attributes) => {
      if (!isWriteOf(attributes, CLAIMS) || attributes.object === undefined) return;
      const { object } = attributes;
      const { spec = {} } = object;
      // An empty name is a choice too: no class.
      if (
        spec.storageClassName !== undefined ||
        object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined
      )
        return;
      const name = newestDefault(classes.in(''), DEFAULT_ANNOTATIONS);
      if (name !== undefined) object.spec = { ...spec, storageClassName: name };
    },
  };
}

export const defaultStorageClass = describePlugin({
  name: 'DefaultStorageClass',
  isDefault: true,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createDefaultStorageClass(objects),
});
