import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { problemsOf } from '../../object/field-path.ts';
import { checkName } from '../../object/formats.ts';
import { count, part, text } from '../../object/parts.ts';
import { validatePodTemplate } from '../pod/validation/pod.ts';
import { validateCounts } from '../validation/numbers.ts';
import { validateFailurePolicy } from './validate-failure-policy.ts';
import { validateSuccessPolicy } from './validate-success-policy.ts';

/** What a JobSpec must be, in a Job or in the template of a CronJob: everything but its selector. */

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];

export function validateJobSpec(spec: JsonObject, path: string): FieldError[] {
  const errors = [
    ...validateCounts(spec, COUNTS, path),
    ...validateManagedBy(spec, `${path}.managedBy`),
    ...validateCompletionMode(spec, path),
  ];
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  if (spec.podFailurePolicy !== undefined)
    errors.push(...validateFailurePolicy(spec, `${path}.podFailurePolicy`));
  if (spec.successPolicy !== undefined) errors.push(...validateSuccessPolicy(spec, `${path}.successPolicy`));
  return [
    ...errors,
    ...validateReplacement(spec, `${path}.podReplacementPolicy`),
    ...problemsOf((at) => validatePodTemplate(at, part(spec, 'template')), `${path}.template`),
    ...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`),
  ];
}

const MODES = ['NonIndexed', 'Indexed'];

function validateCompletionMode(spec: JsonObject, path: string): FieldError[] {
  const mode = text(spec.completionMode, 'NonIndexed');
  switch (mode) {
    case 'Indexed':
      return [...validateIndexed(spec, path), ...validateManyIndexes(spec, path)];
    case 'NonIndexed':
      return ['backoffLimitPerIndex', 'maxFailedIndexes']
        .filter((name) => spec[name] !== undefined)
        .map((name) => invalidValue(`${path}.${name}`, spec[name], 'requires indexed completion mode'));
    default:
      return [notSupported(`${path}.completionMode`, mode, MODES)];
  }
}

/** Limits that keep the lists of indexes in the status short enough to store. */
const MANY = 100_000;
const MOST_WITH_MANY = 10_000;

function validateIndexed(spec: JsonObject, path: string): FieldError[] {
  const { completions, parallelism, maxFailedIndexes: failed } = spec;
  const errors: FieldError[] = [];
  if (completions === undefined)
    errors.push(required(`${path}.completions`, 'when completion mode is Indexed'));
  if (count(parallelism) > MANY) {
    const why = `must be less than or equal to ${MANY} when completion mode is Indexed`;
    errors.push(invalidValue(`${path}.parallelism`, parallelism, why));
  }
  if (completions !== undefined && count(failed) > count(completions))
    errors.push(
      invalidValue(`${path}.maxFailedIndexes`, failed, 'must be less than or equal to completions'),
    );
  if (count(failed) > MANY)
    errors.push(invalidValue(`${path}.maxFailedIndexes`, failed, `must be less than or equal to ${MANY}`));
  return errors;
}

function validateManyIndexes(spec: JsonObject, path: string): FieldError[] {
  if (count(spec.completions) <= MANY || spec.backoffLimitPerIndex === undefined) return [];
  const why = `must be less than or equal to ${MOST_WITH_MANY} when completions are above ${MANY} and used with backoff limit per index`;
  const errors = ['parallelism', 'maxFailedIndexes']
    .filter((name) => count(spec[name]) > MOST_WITH_MANY)
    .map((name) => invalidValue(`${path}.${name}`, spec[name], why));
  if (spec.maxFailedIndexes !== undefined) return errors;
  const missing = `must be specified when completions is above ${MANY}`;
  return [...errors, required(`${path}.maxFailedIndexes`, missing)];
}

const MAX_MANAGER_CHARS = 63;
const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** `example.com/controller` */
function validateManagedBy({ managedBy }: JsonObject, field: string): FieldError[] {
  if (managedBy === undefined) return [];
  const name = text(managedBy);
  const tooLong: FieldError[] =
    name.length > MAX_MANAGER_CHARS
      ? [
          {
            type: 'FieldValueTooLong',
            field,
            message: `Too long: may not be longer than ${MAX_MANAGER_CHARS}`,
          },
        ]
      : [];
  return [...validateDomainPath(name, field), ...tooLong];
}

function validateDomainPath(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  const slash = name.indexOf('/');
  if (slash <= 0 || slash === name.length - 1)
    return [invalidValue(field, name, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const host = name.slice(0, slash);
  const path = name.slice(slash + 1);
  const why = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
  return [
    ...eachInvalid(field, host, checkName(host, 'dns-subdomain')),
    ...(HTTP_PATH.test(path) ? [] : [invalidValue(field, path, why)]),
  ];
}

const REPLACEMENTS = ['Failed', 'TerminatingOrFailed'];

/** A policy can judge a pod only when it has ended. */
function validateReplacement(
  { podReplacementPolicy: policy, podFailurePolicy }: JsonObject,
  field: string,
): FieldError[] {
  const supported = podFailurePolicy === undefined ? REPLACEMENTS : ['Failed'];
  return policy === undefined || supported.includes(text(policy))
    ? []
    : [notSupported(field, text(policy), supported)];
}

/** Pods of a job must be able to end. */
function validateRestartPolicy(spec: JsonObject, field: string): FieldError[] {
  const policy = text(part(spec, 'template', 'spec').restartPolicy, 'Always');
  if (policy === 'Always') return [required(field, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never')
    return [notSupported(field, policy, ['OnFailure', 'Never'])];
  return spec.podFailurePolicy === undefined || policy === 'Never'
    ? []
    : [invalidValue(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}
