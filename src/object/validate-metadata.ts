import type { ObjectMeta, OwnerReference } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { addInvalid, forbiddenField, invalidValue, required, tooLong } from './field-errors.ts';
import { checkLabelValue, checkName, checkQualifiedName, type NameRule } from './text-formats.ts';

/** Metadata rules of every resource (Kubernetes: api/validation/objectmeta.go; clients match these texts). */

const MAX_ANNOTATIONS_BYTES = 256 * 1024;

interface MetadataRules {
  readonly namespaced: boolean;
  readonly strategy: {
    readonly nameRule: NameRule;
    readonly relaxedNames?: { readonly gate: string; readonly rule: NameRule };
  };
}

export function validateObjectMeta(
  meta: ObjectMeta,
  { namespaced, strategy }: MetadataRules,
  isOn: (gate: string) => boolean = () => false,
): FieldError[] {
  const { relaxedNames: relaxed } = strategy;
  const nameRule = relaxed !== undefined && isOn(relaxed.gate) ? relaxed.rule : strategy.nameRule;
  const { name = '', generateName = '', namespace = '' } = meta;
  const errors: FieldError[] = [];
  if (name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else addInvalid(errors, 'metadata.name', name, checkName(name, nameRule));
  if (generateName !== '') {
    // A prefix may end where a name may not: the suffix follows.
    const prefix = generateName.replace(/-$/, 'a');
    addInvalid(errors, 'metadata.generateName', generateName, checkName(prefix, nameRule));
  }
  if (namespaced) addInvalid(errors, 'metadata.namespace', namespace, checkName(namespace, 'dns-label'));
  addLabels(errors, meta.labels, 'metadata.labels');
  validateRest(meta, errors);
  return errors;
}

type Labels = Readonly<Record<string, string>>;
const NONE: Labels = {};

export function addLabels(errors: FieldError[], labels: Labels | undefined, field: string): void {
  const given = labels ?? NONE;
  for (const key of Object.keys(given)) {
    const value = given[key] ?? '';
    addInvalid(errors, field, key, checkQualifiedName(key));
    addInvalid(errors, field, value, checkLabelValue(value));
  }
}

function validateRest(meta: ObjectMeta, errors: FieldError[]): void {
  const { annotations, finalizers, ownerReferences } = meta;
  addAnnotations(errors, annotations ?? NONE);
  for (const finalizer of finalizers ?? [])
    addInvalid(errors, 'metadata.finalizers', finalizer, checkQualifiedName(finalizer));
  validateOwners(ownerReferences ?? [], errors);
}

export function addAnnotations(
  errors: FieldError[],
  annotations: Labels,
  field = 'metadata.annotations',
): void {
  let sizeBytes = 0;
  for (const key of Object.keys(annotations)) {
    sizeBytes += key.length + Buffer.byteLength(annotations[key] ?? '');
    addInvalid(errors, field, key, checkQualifiedName(key.toLowerCase()));
  }
  if (sizeBytes > MAX_ANNOTATIONS_BYTES) errors.push(tooLong(field, MAX_ANNOTATIONS_BYTES));
}

const OF_OWNERS = ['apiVersion', 'kind', 'name', 'uid'] as const;

function validateOwners(owners: readonly OwnerReference[], errors: FieldError[]): void {
  let controllers = 0;
  let at = 0;
  for (const owner of owners) {
    for (const name of OF_OWNERS) {
      if ((owner[name] ?? '') !== '') continue;
      const why = `${name} must not be empty`;
      errors.push(invalidValue(`metadata.ownerReferences[${at}].${name}`, '', why));
    }
    if (owner.controller === true) controllers += 1;
    at += 1;
  }
  if (controllers < 2) return;
  const names = owners.filter(({ controller }) => controller === true).map(({ name }) => name);
  const why = 'Only one reference can have Controller set to true';
  errors.push(invalidValue('metadata.ownerReferences', names.join(' and '), why));
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
