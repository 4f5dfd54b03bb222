import { type Gates, minorOf } from '../api/feature-gates.ts';
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
    readonly finalizersNeedDomains?: boolean;
  };
}

/** Finalizers that need no domain. */
const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];

/** The reason why the name of a finalizer is refused for want of a domain. */
export const WITHOUT_DOMAIN = 'name is neither a standard finalizer name nor is it fully qualified';

export const lacksDomain = (finalizer: string): boolean =>
  !finalizer.includes('/') && !STANDARD_FINALIZERS.includes(finalizer);

export function validateObjectMeta(
  meta: ObjectMeta,
  { namespaced, strategy }: MetadataRules,
  isOn: Gates = () => false,
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
  validateRest(meta, errors, minorOf(isOn) >= 34);
  if (strategy.finalizersNeedDomains === true) {
    for (const [at, finalizer] of (meta.finalizers ?? []).entries()) {
      if (lacksDomain(finalizer))
        errors.push(invalidValue(`metadata.finalizers[${at}]`, finalizer, WITHOUT_DOMAIN));
    }
  }
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

function validateRest(meta: ObjectMeta, errors: FieldError[], since34: boolean): void {
  const { annotations, finalizers, ownerReferences } = meta;
  addAnnotations(errors, annotations ?? NONE);
  for (const finalizer of finalizers ?? [])
    addInvalid(errors, 'metadata.finalizers', finalizer, checkQualifiedName(finalizer));
  validateOwners(ownerReferences ?? [], errors, since34);
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

/** `v1` or `apps/v1`. */
const HAS_VERSION = /^([^/]*\/)?[^/]+$/;

function validateOwners(owners: readonly OwnerReference[], errors: FieldError[], since34: boolean): void {
  let first: string | undefined;
  const at = 'metadata.ownerReferences';
  const require = (field: string, value: string, why: string): void => {
    if (value === '') errors.push(invalidValue(`${at}.${field}`, value, why));
  };
  for (const { apiVersion = '', kind = '', name = '', uid = '', controller } of owners) {
    if (!HAS_VERSION.test(apiVersion))
      errors.push(invalidValue(`${at}.apiVersion`, apiVersion, 'version must not be empty'));
    for (const [field, value] of Object.entries({ kind, name, uid }))
      require(field, value, since34 ? 'must not be empty' : `${field} must not be empty`);
    if (apiVersion === 'v1' && kind === 'Event')
      errors.push(invalidValue(at, name, '/v1, Kind=Event is disallowed from being an owner'));
    if (controller !== true) continue;
    const shown = `${kind}/${name}`;
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${shown}`;
    if (first !== undefined) errors.push(invalidValue(at, shown, why));
    first ??= shown;
  }
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
