import { notFound } from '../../api/status.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { ObjectLookup } from '../object-lookup.ts';
import { describePlugin, type PluginParts } from '../plugin.ts';

const NAMESPACES = { group: '', resource: 'namespaces' };

/** Nothing is written into, or taken out of, a namespace that is not there (Kubernetes: plugin/pkg/admission/namespace/exists). */
export function createNamespaceExists(objects: ClusterObjects): AdmissionPlugin {
  const namespaces = new ObjectLookup(objects, NAMESPACES);
  return {
    name: 'NamespaceExists',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    validate: ({ namespace }) =>
      namespace === ''
        ? undefined
        : namespaces.with('', namespace, (found) => {
            if (found === undefined) throw notFound(NAMESPACES, namespace);
          }),
  };
}

export const namespaceExists = describePlugin({
  name: 'NamespaceExists',
  isDefault: false,
  create: ({ objects }: Pick<PluginParts, 'objects'>) => createNamespaceExists(objects),
});
