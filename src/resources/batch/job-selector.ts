import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { required } from '../../object/field-errors.ts';
import { fromLabelSelector, matchesLabels } from '../../object/label-selector.ts';
import { part, text } from '../../object/parts.ts';
import { goLabelSelector, goStrings, invalidShown } from '../validation/notation.ts';
import type { Ratchet } from '../validation/ratchet.ts';

/**
 * A job's pods are found by the job's own uid, which nobody can know beforehand, unless the user insists on a selector of
 * their own (Kubernetes: job strategy, generateSelector).
 */
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';

/** Labels that pods of the job must have; those without a prefix are older than the rule that there be one. */
function generatedLabels({ metadata }: ApiObject): Record<string, string> {
  const uid = text(metadata.uid);
  const name = text(metadata.name);
  return {
    [CONTROLLER_UID]: uid,
    [JOB_NAME]: name,
    'controller-uid': uid,
    'job-name': name,
  };
}

/** What the caller has already set stays, and is refused if it is wrong. */
export function generateSelector(job: ApiObject): void {
  const spec = part(job, 'spec');
  if (spec.manualSelector === true) return;
  const generated = generatedLabels(job);
  const metadata = part(spec, 'template', 'metadata');
  metadata.labels = { ...generated, ...part(metadata, 'labels') };
  const selector = part(spec, 'selector');
  const matchLabels = {
    [CONTROLLER_UID]: generated[CONTROLLER_UID] ?? '',
    ...part(selector, 'matchLabels'),
  };
  spec.selector = { ...selector, matchLabels };
}

/** Jobs made before labels had prefixes go on without them. */
export const PREFIXED_LABELS: Ratchet = {
  covers: ({ field }) => /^spec\.template\.metadata\.labels\[batch\.kubernetes\.io\//.test(field),
  allows: ({ spec }) => {
    const labels = part({ spec }, 'spec', 'template', 'metadata', 'labels');
    return labels[CONTROLLER_UID] === undefined || labels[JOB_NAME] === undefined;
  },
};

export function validateGeneratedSelector(job: ApiObject): FieldError[] {
  const spec = part(job, 'spec');
  if (spec.manualSelector === true || spec.selector === undefined) return [];
  const generated = generatedLabels(job);
  const errors = text(job.metadata.uid) === '' ? [required('metadata.uid')] : [];
  errors.push(...validateLabels(part(spec, 'template', 'metadata', 'labels'), generated));
  const selector = part(spec, 'selector');
  if (!matchesLabels(fromLabelSelector(selector), generated))
    errors.push(invalidShown('spec.selector', goLabelSelector(selector), '`selector` not auto-generated'));
  return errors;
}

function validateLabels(labels: JsonObject, generated: Record<string, string>): FieldError[] {
  return Object.entries(generated)
    .filter(([key, value]) => labels[key] !== value)
    .map(([key, value]) => {
      const field = `spec.template.metadata.labels[${key}]`;
      const why = `must be '${value}'`;
      return labels[key] === undefined ? required(field, why) : invalidShown(field, goStrings(labels), why);
    });
}
