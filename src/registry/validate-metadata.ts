import type { ObjectMeta } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required, tooLong } from '../object/field-errors.ts';
import { checkLabelValue, checkName, checkQualifiedName, type NameRule } from '../object/formats.ts';

/** Rules of metadata that hold for every resource (Kubernetes: api/validation/objectmeta.go; texts are clients' to match). */

const MAX_ANNOTATIONS_BYTES = 256 * 1024;

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly strategy: { readonly nameRule: NameRule };
}

export function validateObjectMeta(meta: ObjectMeta, { namespaced, strategy }: MetadataRules): FieldError[] {
  const { name = '', generateName = '', namespace = '' } = meta;
  const errors: FieldError[] = [];
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...eachInvalid('metadata.name', name, checkName(name, strategy.nameRule)));
  // A prefix may end where a name may not: the suffix follows.
  const prefix = generateName.replace(/-$/, 'a');
  if (generateName !== '') {
    errors.push(...eachInvalid('metadata.generateName', generateName, checkName(prefix, strategy.nameRule)));
  }
  if (namespaced) {
    errors.push(...eachInvalid('metadata.namespace', namespace, checkName(namespace, 'dns-label')));
  }
  return [...errors, ...validateLabels(meta.labels, 'metadata.labels'), ...validateRest(meta)];
}

export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  field: string,
): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...eachInvalid(field, key, checkQualifiedName(key)),
    ...eachInvalid(field, value, checkLabelValue(value)),
  ]);
}

function validateRest(meta: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(meta.annotations ?? {})) {
    sizeBytes += key.length + Buffer.byteLength(value);
    errors.push(...eachInvalid('metadata.annotations', key, checkQualifiedName(key.toLowerCase())));
  }
  if (sizeBytes > MAX_ANNOTATIONS_BYTES) {
    errors.push(tooLong('metadata.annotations', MAX_ANNOTATIONS_BYTES));
  }
  for (const finalizer of meta.finalizers ?? []) {
    errors.push(...eachInvalid('metadata.finalizers', finalizer, checkQualifiedName(finalizer)));
  }
  return [...errors, ...validateOwners(meta)];
}

function validateOwners({ ownerReferences = [] }: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  for (const [at, owner] of ownerReferences.entries()) {
    const field = `metadata.ownerReferences[${at}]`;
    for (const name of ['apiVersion', 'kind', 'name', 'uid'] as const) {
      if ((owner[name] ?? '') === '')
        errors.push(invalidValue(`${field}.${name}`, '', `${name} must not be empty`));
    }
  }
  const controllers = ownerReferences.filter(({ controller }) => controller === true);
  if (controllers.length > 1) {
    const names = controllers.map(({ name }) => name).join(' and ');
    errors.push(
      invalidValue('metadata.ownerReferences', names, 'Only one reference can have Controller set to true'),
    );
  }
  return errors;
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

export function validateObjectMetaUpdate(meta: ObjectMeta, old: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of IMMUTABLE) {
    if ((meta[name] ?? '') === (old[name] ?? '')) continue;
    errors.push(invalidValue(`metadata.${name}`, meta[name] ?? null, 'field is immutable'));
  }
  if (old.deletionTimestamp === undefined) return errors;
  const added = (meta.finalizers ?? []).filter((finalizer) => old.finalizers?.includes(finalizer) !== true);
  if (added.length > 0) {
    const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
    const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    errors.push(forbiddenField('metadata.finalizers', why));
  }
  return errors;
}
