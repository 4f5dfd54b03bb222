import type { Job, JobSpec } from '../../../api/types/batch/v1.ts';
import type { Affinity, PodSpec, PodTemplateSpec } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import { longerThan } from '../../../object/field-errors.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkName } from '../../../object/text-formats.ts';
import { validatePodTemplate } from '../../pod/validation/pod.ts';
import { mustKeepSelector, mustNotChange } from '../../rules/immutable.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustBeOneOf } from '../../rules/name-rules.ts';
import { mustAllBeNonNegative } from '../../rules/numbers.ts';
import { mustMatchSelector } from '../../workload/workload-template.ts';
import { validateFailurePolicy, validateSuccessPolicy } from './policies.ts';
import { mustHaveGeneratedSelector } from './selector.ts';

export function validate(root: FieldPath, job: Job): void {
  const { metadata, spec = {} } = job;
  mustHaveGeneratedSelector(root, job);
  validateJobSpec(root.field('spec'), spec);
  validateSelector(root.field('spec'), spec);
  mustMakeHostNames(root.field('metadata').field('name'), metadata.name ?? '', spec);
}

function validateSelector(at: FieldPath, { selector, template = {} }: JobSpec): void {
  if (selector === undefined) at.field('selector').required();
  const foundBefore = at.found;
  mustBeLabelSelector(at.field('selector'), selector);
  if (at.found === foundBefore) mustMatchSelector(at.field('template'), template, selector);
}

/** A pod of an indexed job is called after its index, the largest of which must still make a host name. */
function mustMakeHostNames(at: FieldPath, name: string, { completionMode, completions = 0 }: JobSpec): void {
  if (completionMode !== 'Indexed' || completions <= 0) return;
  const host = `${name}-${completions - 1}`;
  if (checkName(host, 'dns-label').length > 0)
    at.invalid(name, `will not able to create pod with invalid DNS label: ${host}`);
}

const IMMUTABLE = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

export function validateUpdate(root: FieldPath, { spec = {} }: Job, old: Job): void {
  const before = old.spec ?? {};
  const at = root.field('spec');
  validateCompletions(at.field('completions'), spec, before);
  mustKeepSelector(at, spec, before);
  mustKeepTemplate(at.field('template'), spec.template ?? {}, old);
  for (const field of IMMUTABLE) mustNotChange(at.field(field), spec[field], before[field]);
}

/** An indexed job can grow and shrink, as long as all of its indexes may run at once. */
function validateCompletions(at: FieldPath, spec: JobSpec, old: JobSpec): void {
  const { completionMode, completions, parallelism } = spec;
  if (completionMode !== 'Indexed') mustNotChange(at, completions, old.completions);
  else if (completions !== old.completions && completions !== undefined && completions !== parallelism)
    at.invalid(completions, 'can only be modified in tandem with spec.parallelism');
}

/**
 * Queues may still change the placement of the pods of a suspended job, and what they ask for: until it has started and, by the
 * features of Kubernetes 1.35, while it has no pods.
 */
function mustKeepTemplate(at: FieldPath, template: PodTemplateSpec, old: Job): void {
  const { spec = {}, status = {} } = old;
  const before = spec.template ?? {};
  const isIdle = isSuspendedWithoutPods(old);
  const isPlaceable = at.isOn('MutableSchedulingDirectivesForSuspendedJobs')
    ? isIdle
    : spec.suspend === true && status.startTime === undefined;
  const placed = isPlaceable ? withSchedulingOf(template, before) : before;
  if (!isIdle || !at.isOn('MutablePodResourcesForSuspendedJobs')) {
    if (!equal(template, placed)) at.invalid(template, 'field is immutable');
    return;
  }
  // Kubernetes compares the spec alone.
  const { spec: wanted = {} } = template;
  if (!equal(wanted, withResourcesOf(wanted, placed.spec ?? {})))
    at.field('spec').invalid(wanted, 'field is immutable');
}

function isSuspendedWithoutPods({ spec = {}, status = {} }: Job): boolean {
  const { startTime, active = 0, conditions = [] } = status;
  const isNoted = conditions.some((one) => one.type === 'Suspended' && one.status === 'True');
  return spec.suspend === true && (startTime === undefined || isNoted) && active === 0;
}

/** The old spec with the resources of its containers as they are in the new one. */
function withResourcesOf(spec: PodSpec, old: PodSpec): PodSpec {
  const merged: PodSpec = { ...old };
  for (const list of ['containers', 'initContainers'] as const) {
    const wanted = spec[list] ?? [];
    const before = old[list] ?? [];
    if (before.length === 0 || wanted.length !== before.length) continue;
    merged[list] = before.map(({ resources, ...container }, at) => {
      const next = wanted[at];
      const asked = next?.name === container.name ? next?.resources : resources;
      return asked === undefined ? container : { ...container, resources: asked };
    });
  }
  return merged;
}

const SCHEDULING = ['nodeSelector', 'tolerations', 'schedulingGates'] as const;

/** The old template with everything that may change as it is in the new one. */
function withSchedulingOf({ metadata, spec = {} }: PodTemplateSpec, old: PodTemplateSpec): PodTemplateSpec {
  const { nodeSelector: _, tolerations: __, schedulingGates: ___, affinity, ...kept } = old.spec ?? {};
  const { annotations: ____, labels: _____, ...ofMetadata } = old.metadata ?? {};
  return {
    ...old,
    metadata: { ...ofMetadata, ...pick(metadata ?? {}, ['annotations', 'labels']) },
    spec: { ...kept, ...affinityOf(spec, affinity), ...pick(spec, SCHEDULING) },
  };
}

/** The named fields of an object, where it has them. */
function pick<T extends object, Name extends keyof T>(
  object: T,
  names: readonly Name[],
): Partial<Pick<T, Name>> {
  const picked: Partial<Pick<T, Name>> = {};
  for (const name of names) if (object[name] !== undefined) picked[name] = object[name];
  return picked;
}

/** Only node affinity may change; an otherwise empty affinity may be removed. */
function affinityOf(wanted: PodSpec, old: Affinity = {}): Pick<PodSpec, 'affinity'> {
  const { nodeAffinity: _, ...rest } = old;
  if (wanted.affinity !== undefined)
    return { affinity: { ...rest, ...pick(wanted.affinity, ['nodeAffinity']) } };
  return Object.keys(rest).length === 0 ? {} : { affinity: rest };
}

/** Rules of a JobSpec, in a Job or in the template of a CronJob: all but those of the selector. */
export function validateJobSpec(at: FieldPath, spec: JobSpec): void {
  const { managedBy, podFailurePolicy, successPolicy, template = {} } = spec;
  mustAllBeNonNegative(at, spec, [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ]);
  if (managedBy !== undefined) validateManagedBy(at.field('managedBy'), managedBy);
  validateCompletionMode(at, spec);
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    at.field('backoffLimitPerIndex').required('when maxFailedIndexes is specified');
  if (podFailurePolicy !== undefined)
    validateFailurePolicy(at.field('podFailurePolicy'), podFailurePolicy, spec);
  if (successPolicy !== undefined) validateSuccessPolicy(at.field('successPolicy'), successPolicy, spec);
  // A policy can judge a pod only when it has ended.
  const replacements = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed'];
  mustBeOneOf(at.field('podReplacementPolicy'), spec.podReplacementPolicy, replacements);
  validatePodTemplate(at.field('template'), template);
  validateRestartPolicy(at.field('template').field('spec').field('restartPolicy'), spec);
}

function validateCompletionMode(at: FieldPath, spec: JobSpec): void {
  const mode = spec.completionMode || 'NonIndexed';
  if (mode === 'Indexed') {
    validateIndexed(at, spec);
    validateManyIndexes(at, spec);
  } else if (mode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
      if (spec[field] !== undefined) at.field(field).invalid(spec[field], 'requires indexed completion mode');
  } else at.field('completionMode').notSupported(mode, ['NonIndexed', 'Indexed']);
}

/** Limits that keep the lists of indexes in the status short enough to store. */
const MANY = 100_000;
const MOST_WITH_MANY = 10_000;

function validateIndexed(at: FieldPath, spec: JobSpec): void {
  const { completions, parallelism = 0, maxFailedIndexes: failed = 0 } = spec;
  const path = at.field('maxFailedIndexes');
  if (completions === undefined) at.field('completions').required('when completion mode is Indexed');
  if (parallelism > MANY)
    at.field('parallelism').invalid(
      parallelism,
      `must be less than or equal to ${MANY} when completion mode is Indexed`,
    );
  if (completions !== undefined && failed > completions)
    path.invalid(failed, 'must be less than or equal to completions');
  if (failed > MANY) path.invalid(failed, `must be less than or equal to ${MANY}`);
}

function validateManyIndexes(at: FieldPath, spec: JobSpec): void {
  if ((spec.completions ?? 0) <= MANY || spec.backoffLimitPerIndex === undefined) return;
  const why = `must be less than or equal to ${MOST_WITH_MANY} when completions are above ${MANY} and used with backoff limit per index`;
  for (const field of ['parallelism', 'maxFailedIndexes'] as const)
    if ((spec[field] ?? 0) > MOST_WITH_MANY) at.field(field).invalid(spec[field], why);
  if (spec.maxFailedIndexes === undefined)
    at.field('maxFailedIndexes').required(`must be specified when completions is above ${MANY}`);
}

const MAX_MANAGER_CHARS = 63;
const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** `example.com/controller` */
function validateManagedBy(at: FieldPath, name: string): void {
  mustBeDomainPath(at, name);
  if (name.length > MAX_MANAGER_CHARS) {
    at.add([longerThan(at.toString(), MAX_MANAGER_CHARS)]);
  }
}

function mustBeDomainPath(at: FieldPath, name: string): void {
  const slash = name.indexOf('/');
  if (name === '') at.required();
  else if (slash <= 0 || slash === name.length - 1)
    at.invalid(name, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    const host = name.slice(0, slash);
    const path = name.slice(slash + 1);
    at.invalidFor(host, checkName(host, 'dns-subdomain'));
    if (!HTTP_PATH.test(path))
      at.invalid(path, "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
  }
}

/** Pods of a job must be able to end. */
function validateRestartPolicy(at: FieldPath, { template, podFailurePolicy }: JobSpec): void {
  const policy = template?.spec?.restartPolicy || 'Always';
  if (policy === 'Always') at.required('valid values: "OnFailure", "Never"');
  else if (policy !== 'OnFailure' && policy !== 'Never') at.notSupported(policy, ['OnFailure', 'Never']);
  else if (podFailurePolicy !== undefined && policy !== 'Never')
    at.invalid(policy, 'only "Never" is supported when podFailurePolicy is specified');
}
