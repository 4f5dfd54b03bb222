import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import type { Job } from '../../api/types/batch/v1.ts';
import { equal } from '../../object/equality.ts';
import { invalidValue } from '../../object/field-errors.ts';
import { type FieldPath, problemsOf } from '../../object/field-path.ts';
import { checkName } from '../../object/formats.ts';
import { count, part } from '../../object/parts.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import { validateImmutable, validateImmutableSelector } from '../validation/immutable.ts';
import { mustMatchSelector } from '../workload/template.ts';
import { validateGeneratedSelector } from './job-selector.ts';
import { validateJobSpec } from './validate-job-spec.ts';

export function validateJob(job: Job): FieldError[] {
  const spec = part(job, 'spec');
  return [
    ...validateGeneratedSelector(job),
    ...validateJobSpec(spec, 'spec'),
    ...problemsOf((at) => validateSelector(at, job)),
    ...validateHostNames(job),
  ];
}

function validateSelector(root: FieldPath, { spec = {} }: Job): void {
  const at = root.field('spec');
  const { selector, template = {} } = spec;
  if (selector === undefined) at.field('selector').required();
  const foundBefore = at.found;
  mustBeLabelSelector(at.field('selector'), selector);
  if (at.found === foundBefore) mustMatchSelector(at.field('template'), template, selector);
}

/** A pod of an indexed job is called after its index, the largest of which must still make a host name. */
function validateHostNames({ metadata: { name = '' }, spec }: ApiObject): FieldError[] {
  const { completionMode, completions } = part({ spec }, 'spec');
  if (completionMode !== 'Indexed' || count(completions) <= 0) return [];
  const host = `${name}-${count(completions) - 1}`;
  if (checkName(host, 'dns-label').length === 0) return [];
  const why = `will not able to create pod with invalid DNS label: ${host}`;
  return [invalidValue('metadata.name', name, why)];
}

const IMMUTABLE = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

export function validateJobUpdate(job: ApiObject, old: ApiObject): FieldError[] {
  const spec = part(job, 'spec');
  const before = part(old, 'spec');
  return [
    ...validateCompletions(spec, before),
    ...validateImmutableSelector(spec, before),
    ...validateTemplate(part(spec, 'template'), old),
    ...validateImmutable(spec, before, IMMUTABLE, 'spec'),
  ];
}

/** An indexed job can grow and shrink, as long as all of its indexes may run at once. */
function validateCompletions(spec: JsonObject, old: JsonObject): FieldError[] {
  if (spec.completionMode !== 'Indexed') return validateImmutable(spec, old, ['completions'], 'spec');
  const { completions, parallelism } = spec;
  if (equal(completions, old.completions) || completions === undefined || completions === parallelism)
    return [];
  return [
    invalidValue('spec.completions', completions, 'can only be modified in tandem with spec.parallelism'),
  ];
}

/** Until a suspended job has started, queues may still decide where its pods go. */
function validateTemplate(template: JsonObject, old: ApiObject): FieldError[] {
  const before = part(old, 'spec', 'template');
  const open = part(old, 'spec').suspend === true && part(old, 'status').startTime === undefined;
  const unchanged = equal(template, open ? withSchedulingOf(template, before) : before);
  return unchanged ? [] : [invalidValue('spec.template', template, 'field is immutable')];
}

const SCHEDULING = ['nodeSelector', 'tolerations', 'schedulingGates'];

/** The old template with everything that may change as it is in the new one. */
function withSchedulingOf(template: JsonObject, old: JsonObject): JsonObject {
  const { annotations, labels } = part(template, 'metadata');
  const wanted = part(template, 'spec');
  const spec: JsonObject = { ...part(old, 'spec'), affinity: affinityOf(wanted, part(old, 'spec')) };
  for (const name of SCHEDULING) spec[name] = wanted[name];
  return { ...old, metadata: { ...part(old, 'metadata'), annotations, labels }, spec };
}

/** Only affinity to nodes may change; the whole may go when there was nothing else. */
function affinityOf(wanted: JsonObject, old: JsonObject): JsonObject | undefined {
  const { nodeAffinity: _, ...rest } = part(old, 'affinity');
  if (wanted.affinity !== undefined) return { ...rest, nodeAffinity: part(wanted, 'affinity').nodeAffinity };
  return Object.keys(rest).length === 0 ? undefined : rest;
}
