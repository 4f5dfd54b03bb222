import type { ViewSubresource } from '../../registry/definition.ts';
import { part } from '../cells.ts';

/** Where the duties in spec.finalizers are taken off; the namespace itself cannot be written so. */
export const finalize: ViewSubresource = {
  access: 'view',
  name: 'finalize',
  served: { group: '', version: 'v1', kind: 'Namespace' },
  type: 'core/v1.Namespace',
  verbs: ['update'],
  read: (namespace) => namespace,
  write: (view, old) => ({
    ...old,
    metadata: { ...old.metadata, ...versionOf(view) },
    spec: part(view, 'spec'),
  }),
};

function versionOf({ metadata }: { metadata: { resourceVersion?: string } }): { resourceVersion?: string } {
  return metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion };
}
