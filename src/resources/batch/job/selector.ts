import type { Job } from '../../../api/types/batch/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goStrings } from '../../../object/go-value.ts';
import { fromLabelSelector, matchesLabels } from '../../../object/selectors.ts';
import type { Ratchet } from '../../rules/checked.ts';
import { goLabelSelector } from '../../rules/go-structs.ts';

/**
 * A job's pods are found by the job's own uid, which cannot be known beforehand, unless the user insists on a selector of
 * their own (Kubernetes: job strategy, generateSelector).
 */
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid';
const JOB_NAME = 'batch.kubernetes.io/job-name';

/** Labels that pods of the job must have; those without a prefix are older than the rule that there be one. */
function generatedLabels({ metadata: { uid = '', name = '' } }: Job): Record<string, string> {
  return { [CONTROLLER_UID]: uid, [JOB_NAME]: name, 'controller-uid': uid, 'job-name': name };
}

/** Labels that the caller has set stay; wrong ones are refused later. */
export function generateSelector(job: Job): void {
  const { spec = {} } = job;
  if (spec.manualSelector === true) return;
  const generated = generatedLabels(job);
  const { selector, template } = spec;
  if (template !== undefined) {
    const { metadata } = template;
    template.metadata = { ...metadata, labels: { ...generated, ...metadata?.labels } };
  }
  const matchLabels = { [CONTROLLER_UID]: generated[CONTROLLER_UID] ?? '', ...selector?.matchLabels };
  spec.selector = { ...selector, matchLabels };
}

/** Jobs made before labels had prefixes go on without them. */
export const PREFIXED_LABELS: Ratchet<Job> = {
  covers: ({ field }) => /^spec\.template\.metadata\.labels\[batch\.kubernetes\.io\//.test(field),
  allows: ({ spec }) => {
    const { labels = {} } = spec?.template?.metadata ?? {};
    return labels[CONTROLLER_UID] === undefined || labels[JOB_NAME] === undefined;
  },
};

export function mustHaveGeneratedSelector(root: FieldPath, job: Job): void {
  const { metadata, spec = {} } = job;
  const { selector, template, manualSelector } = spec;
  if (manualSelector === true || selector === undefined) return;
  const at = root.field('spec');
  const generated = generatedLabels(job);
  if ((metadata.uid ?? '') === '') root.field('metadata').field('uid').required();
  const path = at.field('template').field('metadata').field('labels');
  mustHaveLabels(path, template?.metadata?.labels ?? {}, generated);
  if (!matchesLabels(fromLabelSelector(selector), generated))
    at.field('selector').invalid(goLabelSelector(selector), '`selector` not auto-generated');
}

type Labels = Readonly<Record<string, string>>;

function mustHaveLabels(at: FieldPath, labels: Labels, generated: Labels): void {
  for (const [path, key, value] of at.entries(generated)) {
    if (labels[key] === value) continue;
    if (labels[key] === undefined) path.required(`must be '${value}'`);
    else path.invalid(goStrings(labels), `must be '${value}'`);
  }
}
