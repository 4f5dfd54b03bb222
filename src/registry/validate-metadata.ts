import type { ObjectMeta } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import type { NameRule } from './strategy.ts';

/** Rules of metadata that hold for every resource (Kubernetes: api/validation/objectmeta.go; texts are clients' to match). */

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const MAX_LABEL_CHARS = 63;
const MAX_SUBDOMAIN_CHARS = 253;
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " +
  "alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an " +
  "alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export function invalidValue(field: string, value: unknown, why: string): FieldError {
  return { type: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${why}` };
}

export function requiredValue(field: string, why = ''): FieldError {
  return {
    type: 'FieldValueRequired',
    field,
    message: why === '' ? 'Required value' : `Required value: ${why}`,
  };
}

/** What is wrong with a name under a rule; empty when nothing is. */
export function checkName(name: string, rule: NameRule): string[] {
  switch (rule) {
    case 'dns-label':
      return [...tooLong(name, MAX_LABEL_CHARS), ...(DNS_LABEL.test(name) ? [] : [LABEL_TEXT])];
    case 'dns-1035-label':
      return [...tooLong(name, MAX_LABEL_CHARS), ...(DNS_1035.test(name) ? [] : [LABEL_1035_TEXT])];
    case 'dns-subdomain':
      return [...tooLong(name, MAX_SUBDOMAIN_CHARS), ...(DNS_SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_TEXT])];
    case 'path-segment':
      return checkPathSegment(name);
    default:
      return rule satisfies never;
  }
}

function checkPathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

const tooLong = (text: string, most: number): string[] =>
  text.length > most ? [`must be no more than ${most} characters`] : [];

export interface MetadataRules {
  readonly namespaced: boolean;
  readonly strategy: { readonly nameRule: NameRule };
}

export function validateObjectMeta(meta: ObjectMeta, { namespaced, strategy }: MetadataRules): FieldError[] {
  const { name = '', generateName = '', namespace = '' } = meta;
  const errors: FieldError[] = [];
  if (name === '') errors.push(requiredValue('metadata.name', 'name or generateName is required'));
  else
    errors.push(...checkName(name, strategy.nameRule).map((why) => invalidValue('metadata.name', name, why)));
  // A prefix may end where a name may not: the suffix follows.
  const prefix = generateName.replace(/-$/, 'a');
  if (generateName !== '') {
    const found = checkName(prefix, strategy.nameRule);
    errors.push(...found.map((why) => invalidValue('metadata.generateName', generateName, why)));
  }
  if (namespaced) {
    const found = checkName(namespace, 'dns-label');
    errors.push(...found.map((why) => invalidValue('metadata.namespace', namespace, why)));
  }
  return [...errors, ...validateLabels(meta.labels, 'metadata.labels'), ...validateRest(meta)];
}

export function validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  field: string,
): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...checkQualifiedName(key).map((why) => invalidValue(field, key, why)),
    ...checkLabelValue(value).map((why) => invalidValue(field, value, why)),
  ]);
}

export function checkLabelValue(value: string): string[] {
  return [
    ...tooLong(value, MAX_LABEL_CHARS),
    ...(value === '' || QUALIFIED_NAME.test(value) ? [] : [VALUE_TEXT]),
  ];
}

/** `prefix/name` or `name`. */
export function checkQualifiedName(key: string): string[] {
  const [first = '', second, ...more] = key.split('/');
  if (more.length > 0)
    return [
      `a qualified name ${QUALIFIED_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  const name = second ?? first;
  const errors: string[] = [];
  if (second !== undefined) {
    if (first === '') errors.push('prefix part must be non-empty');
    else errors.push(...checkName(first, 'dns-subdomain').map((why) => `prefix part ${why}`));
  }
  if (name === '') return [...errors, 'name part must be non-empty'];
  if (name.length > MAX_LABEL_CHARS)
    errors.push(`name part must be no more than ${MAX_LABEL_CHARS} characters`);
  if (!QUALIFIED_NAME.test(name)) errors.push(QUALIFIED_TEXT);
  return errors;
}

function validateRest(meta: ObjectMeta): FieldError[] {
  const errors: FieldError[] = [];
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(meta.annotations ?? {})) {
    sizeBytes += key.length + Buffer.byteLength(value);
    errors.push(
      ...checkQualifiedName(key.toLowerCase()).map((why) => invalidValue('metadata.annotations', key, why)),
    );
  }
  if (sizeBytes > MAX_ANNOTATIONS_BYTES) {
    const message = `Too long: may not be more than ${MAX_ANNOTATIONS_BYTES} bytes`;
    errors.push({ type: 'FieldValueTooLong', field: 'metadata.annotations', message });
  }
  for (const finalizer of meta.finalizers ?? []) {
    errors.push(
      ...checkQualifiedName(finalizer).map((why) => invalidValue('metadata.finalizers', finalizer, why)),
    );
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
    const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
    errors.push({ type: 'FieldValueForbidden', field: 'metadata.finalizers', message });
  }
  return errors;
}
