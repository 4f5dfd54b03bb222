import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue } from '../../object/field-errors.ts';
import { checkQualifiedName } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { strings } from '../validation/values.ts';
import { finalize } from './namespace-finalize.ts';
import { labelWithName } from './namespace-label.ts';

/** Finalizers that need no domain. */
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

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
  validateStatus: validatePhase,
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
    defaults: labelWithName,
    prepareForCreate: (namespace) => {
      namespace.status = { phase: 'Active' };
      const finalizers = part(namespace, 'spec').finalizers;
      const given = Array.isArray(finalizers) ? finalizers : [];
      namespace.spec = { finalizers: given.includes('kubernetes') ? given : [...given, 'kubernetes'] };
    },
    prepareForUpdate: (namespace, old) => {
      namespace.spec = old.spec;
    },
    validate,
    heldBack: (namespace) => {
      const { finalizers } = part(namespace, 'spec');
      return Array.isArray(finalizers) && finalizers.length > 0;
    },
    prepareForDelete: (namespace) => {
      namespace.status = { ...part(namespace, 'status'), phase: 'Terminating' };
    },
  },
});

function validate(namespace: ApiObject): FieldError[] {
  return strings(part(namespace, 'spec'), 'finalizers').flatMap((finalizer) => {
    const standard = finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer);
    const why = 'name is neither a standard finalizer name nor is it fully qualified';
    return eachInvalid('spec.finalizers', finalizer, [
      ...checkQualifiedName(finalizer),
      ...(standard ? [] : [why]),
    ]);
  });
}

/** The phase says no more than whether the namespace is being deleted. */
function validatePhase(namespace: ApiObject): FieldError[] {
  const { phase } = part(namespace, 'status');
  const live = namespace.metadata.deletionTimestamp === undefined;
  if (phase === (live ? 'Active' : 'Terminating')) return [];
  const why = live
    ? "may only be 'Active' if `deletionTimestamp` is empty"
    : "may only be 'Terminating' if `deletionTimestamp` is not empty";
  return [invalidValue('status.Phase', text(phase), why)];
}
