import type { Job, JobSpec } from '../../../api/types/batch/v1.ts';
import type { Affinity, PodSpec, PodTemplateSpec } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkName } from '../../../object/formats.ts';
import { mustKeepSelector, mustNotChange } from '../../rules/immutable.ts';
import { mustBeLabelSelector } from '../../rules/labels.ts';
import { mustMatchSelector } from '../../workload/template.ts';
import { mustHaveGeneratedSelector } from './selector.ts';
import { validateJobSpec } from './validate-spec.ts';

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

/** Until a suspended job has started, queues may still decide where its pods go. */
function mustKeepTemplate(at: FieldPath, template: PodTemplateSpec, { spec = {}, status = {} }: Job): void {
  const before = spec.template ?? {};
  const isOpen = spec.suspend === true && status.startTime === undefined;
  if (!equal(template, isOpen ? withSchedulingOf(template, before) : before))
    at.invalid(template, 'field is immutable');
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
function pick<T extends object, Name extends keyof T>(object: T, names: readonly Name[]): Pick<T, Name> {
  const picked: Partial<T> = {};
  for (const name of names) if (object[name] !== undefined) picked[name] = object[name];
  return picked as Pick<T, Name>;
}

/** Only affinity to nodes may change; the whole may go when there was nothing else. */
function affinityOf(wanted: PodSpec, old: Affinity = {}): Pick<PodSpec, 'affinity'> {
  const { nodeAffinity: _, ...rest } = old;
  if (wanted.affinity !== undefined)
    return { affinity: { ...rest, ...pick(wanted.affinity, ['nodeAffinity']) } };
  return Object.keys(rest).length === 0 ? {} : { affinity: rest };
}
