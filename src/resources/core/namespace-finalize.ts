import type { ViewSubresource } from '../../registry/definition.ts';
import { part } from '../cells.ts';
import { statedBy } from '../stated.ts';

/** Where the duties in spec.finalizers are taken off; the namespace itself cannot be written so. */
export const finalize: ViewSubresource = {
  access: 'view',
  name: 'finalize',
  served: { group: '', version: 'v1', kind: 'Namespace' },
  type: 'core/v1.Namespace',
  verbs: ['update'],
  resetFields: [['status']],
  read: (namespace) => namespace,
  write: (view, old) => ({
    ...old,
    metadata: { ...old.metadata, ...statedBy(view.metadata) },
    spec: part(view, 'spec'),
  }),
};
