import { part } from '../../object/parts.ts';
import type { ViewSubresource } from '../../registry/definition.ts';
import { labelWithName } from './namespace-label.ts';

/** Where the duties in spec.finalizers are taken off, and with them those in metadata; the status stays. */
export const finalize: ViewSubresource = {
  access: 'view',
  name: 'finalize',
  served: { group: '', version: 'v1', kind: 'Namespace' },
  type: 'core/v1.Namespace',
  verbs: ['update'],
  resetFields: [['status']],
  read: (namespace) => namespace,
  write: (view, old) => {
    const namespace = { ...old, metadata: view.metadata, spec: part(view, 'spec') };
    labelWithName(namespace);
    return namespace;
  },
};
