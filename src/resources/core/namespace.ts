import type { Namespace } from '../../api/types/core/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { lacksDomain, WITHOUT_DOMAIN } from '../../object/validate-metadata.ts';
import type { ViewSubresource } from '../../registry/resource-definition.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';

/** Takes finalizers off the spec and off the metadata; the status stays. */
const finalize: ViewSubresource<Namespace> = {
  access: 'view',
  name: 'finalize',
  served: { group: '', version: 'v1', kind: 'Namespace' },
  type: 'core/v1.Namespace',
  verbs: ['update'],
  resetFields: [['status']],
  read: (namespace) => namespace,
  write: (view, old) => {
    const namespace = { ...old, metadata: view.metadata, spec: view.spec ?? {} };
    labelWithName(namespace);
    return namespace;
  },
};

/** Namespaces keep their finalizers in spec; the object is removed when that list is empty. */
export const namespaces = define<Namespace>({
  group: '',
  resource: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
  shortNames: ['ns'],
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: [{ version: 'v1', type: 'core/v1.Namespace' }],
  emptyStatus: { phase: 'Active' },
  prepareStatus: defaultPhase,
  validateStatus: checked(validatePhase),
  subresources: [finalize],
  table: {
    columns: [nameColumn(), column('Status'), column('Age')],
    cells: (namespace, now) => [
      namespace.metadata.name ?? '',
      namespace.status?.phase ?? '',
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
    returnsDeletedObject: true,
    defaults: (namespace) => {
      labelWithName(namespace);
      defaultPhase(namespace);
    },
    prepareForCreate: (namespace) => {
      // Defaults come before names are generated and before plugins run (Kubernetes: Canonicalize of the strategy).
      labelWithName(namespace);
      const { finalizers = [] } = namespace.spec ?? {};
      namespace.status = { phase: 'Active' };
      namespace.spec = {
        finalizers: finalizers.includes('kubernetes') ? finalizers : [...finalizers, 'kubernetes'],
      };
    },
    prepareForUpdate: (namespace, old) => {
      labelWithName(namespace);
      if (old.spec === undefined) delete namespace.spec;
      else namespace.spec = old.spec;
    },
    validate: checked(validate),
    heldBack: ({ spec }) => (spec?.finalizers ?? []).length > 0,
    prepareForDelete: (namespace) => {
      namespace.status = { ...namespace.status, phase: 'Terminating' };
    },
  },
});

function defaultPhase(namespace: Namespace): void {
  namespace.status = { phase: 'Active', ...namespace.status };
}

/** Every namespace can be selected by its name, and by that name only. */
function labelWithName({ metadata }: Namespace): void {
  const { name = '' } = metadata;
  if (name !== '') metadata.labels = { ...metadata.labels, 'kubernetes.io/metadata.name': name };
}

function validate(root: FieldPath, { spec = {} }: Namespace): void {
  const at = root.field('spec').field('finalizers');
  for (const finalizer of spec.finalizers ?? []) {
    at.invalidFor(finalizer, checkQualifiedName(finalizer));
    if (lacksDomain(finalizer)) at.invalid(finalizer, WITHOUT_DOMAIN);
  }
}

/** The phase only shows whether the namespace is being deleted. */
function validatePhase(root: FieldPath, { metadata, status }: Namespace): void {
  const { phase = '' } = status ?? {};
  const at = root.field('status').field('Phase');
  if (metadata.deletionTimestamp === undefined) {
    if (phase !== 'Active') at.invalid(phase, "may only be 'Active' if `deletionTimestamp` is empty");
  } else if (phase !== 'Terminating')
    at.invalid(phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
}
