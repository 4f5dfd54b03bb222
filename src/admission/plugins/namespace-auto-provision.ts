import { StatusError } from '../../api/status.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { ClusterObjects } from '../cluster-objects.ts';
import { describePlugin, type PluginParts } from '../plugin.ts';
import { refusal } from '../refusal.ts';

/** A namespace that exists already is as good. @throws StatusError */
export type CreateNamespace = (name: string) => Promise<void>;

/** A namespace is made when something is to be in it (Kubernetes: plugin/pkg/admission/namespace/autoprovision). */
export function createAutoProvision(objects: ClusterObjects, create: CreateNamespace): AdmissionPlugin {
  const namespaces = objects.follow({ group: '', resource: 'namespaces' });
  return {
    name: 'NamespaceAutoProvision',
    operations: ['CREATE'],
    mutate: (attributes) => {
      const { namespace, dryRun } = attributes;
      if (dryRun || namespace === '' || namespaces.get('', namespace) !== undefined) return undefined;
      return create(namespace).catch((error: unknown) => {
        if (!(error instanceof StatusError) || error.status.reason === 'Forbidden') throw error;
        throw refusal(attributes, error.message);
      });
    },
  };
}

export const namespaceAutoProvision = describePlugin({
  name: 'NamespaceAutoProvision',
  isDefault: false,
  create: ({
    objects,
    createNamespace,
  }: Pick<PluginParts, 'objects'> & { readonly createNamespace: CreateNamespace }) =>
    createAutoProvision(objects, createNamespace),
});
