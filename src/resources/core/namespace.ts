import { age, part, text } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { finalize } from './namespace-finalize.ts';

/** Namespaces keep their finalizers in spec; the object goes when that list is empty. */
export const namespaces = define({
  group: '',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  shortNames: ['ns'],
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: [{ version: 'v1', type: 'core/v1.Namespace' }],
  emptyStatus: { phase: 'Active' },
  subresources: [finalize],
  table: {
    columns: [nameColumn(), column('Status'), column('Age')],
    cells: (namespace, now) => [
      namespace.metadata.name ?? '',
      text(part(namespace, 'status').phase),
      age(namespace, now),
    ],
  },
  fields: {
    paths: {
      'status.phase': ['status.phase'],
    },
  },
  strategy: {
    nameRule: 'dns-label',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: (namespace) => {
      const name = namespace.metadata.name ?? '';
      if (name !== '')
        namespace.metadata.labels = { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': name };
    },
    prepareForCreate: (namespace) => {
      namespace.status = { phase: 'Active' };
      const finalizers = part(namespace, 'spec').finalizers;
      const given = Array.isArray(finalizers) ? finalizers : [];
      namespace.spec = { finalizers: given.includes('kubernetes') ? given : [...given, 'kubernetes'] };
    },
    prepareForUpdate: (namespace, old) => {
      namespace.spec = old.spec;
    },
    heldBack: (namespace) => {
      const { finalizers } = part(namespace, 'spec');
      return Array.isArray(finalizers) && finalizers.length > 0;
    },
    prepareForDelete: (namespace) => {
      namespace.status = { ...part(namespace, 'status'), phase: 'Terminating' };
    },
  },
});
