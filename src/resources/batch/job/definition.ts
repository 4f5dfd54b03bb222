import type { Job } from '../../../api/types/batch/v1.ts';
import { equal } from '../../../object/equality.ts';
import { define } from '../../define.ts';
import { defaultPodTemplate } from '../../pod/defaults.ts';
import { POD_RATCHETS } from '../../pod/ratchets.ts';
import { checked, checkedUpdate, whenSpecChanged } from '../../rules/checked.ts';
import { podNameWarnings, SPEC_TEMPLATE } from '../../workload/template.ts';
import { generateSelector, PREFIXED_LABELS } from './selector.ts';
import { table } from './table.ts';
import { validate, validateUpdate } from './validate.ts';
import { validateStatus } from './validate-status.ts';
import { jobSpecWarnings } from './warnings.ts';

export const jobs = define<Job>({
  group: 'batch',
  resource: 'jobs',
  kind: 'Job',
  namespaced: true,
  categories: ['all'],
  versions: [{ version: 'v1', type: 'batch/v1.Job' }],
  emptyStatus: {},
  validateStatus: checkedUpdate(validateStatus),
  table,
  fields: {
    paths: {
      'status.successful': ['status.succeeded'],
    },
    // A status that does not speak of successes has had none.
    absent: { 'status.successful': '0' },
  },
  podTemplate: SPEC_TEMPLATE,
  ratchets: [...POD_RATCHETS, PREFIXED_LABELS],
  strategy: {
    tracksGeneration: true,
    defaultPropagation: 'orphan',
    defaults: setDefaults,
    prepareForCreate: prepare,
    validate: checked(whenSpecChanged(validate)),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings: (job, old) => [...podNameWarnings(job, old), ...jobSpecWarnings(job.spec, old?.spec, 'spec')],
  },
});

const MAX_INT32 = 2 ** 31 - 1;

function setDefaults(job: Job): void {
  const { spec = {} } = job;
  defaultPodTemplate(spec);
  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  // Where each index has a limit of its own, the job as a whole has none.
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? [])
    for (const pattern of onPodConditions ?? []) if (pattern.status === '') pattern.status = 'True';
  inheritLabels(job);
}

/** A job without labels has those of its pods. */
function inheritLabels({ metadata, spec = {} }: Job): void {
  const { labels = {} } = spec.template?.metadata ?? {};
  const hasNone = Object.keys(metadata.labels ?? {}).length === 0;
  if (hasNone && Object.keys(labels).length > 0) metadata.labels = { ...labels };
}

function prepare(job: Job): void {
  job.status = {};
  // Labels that were taken from the template stay those of the template.
  const areInherited = equal(job.metadata.labels ?? {}, job.spec?.template?.metadata?.labels ?? {});
  generateSelector(job);
  if (!areInherited) return;
  delete job.metadata.labels;
  inheritLabels(job);
}
