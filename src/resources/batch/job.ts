import type { ApiObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { part, parts } from '../../object/parts.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS } from '../pod/ratchets.ts';
import { whenSpecChanged } from '../validation/spec-changed.ts';
import { podNameWarnings } from '../workload/template.ts';
import { jobCells } from './job-cells.ts';
import { generateSelector, PREFIXED_LABELS } from './job-selector.ts';
import { jobSpecWarnings } from './job-warnings.ts';
import { validateJob, validateJobUpdate } from './validate-job.ts';
import { validateJobStatus } from './validate-job-status.ts';

export const jobs = define({
  group: 'batch',
  resource: 'jobs',
  kind: 'Job',
  namespaced: true,
  categories: ['all'],
  versions: [{ version: 'v1', type: 'batch/v1.Job' }],
  emptyStatus: {},
  validateStatus: validateJobStatus,
  table: {
    columns: [
      nameColumn(),
      column('Status'),
      column('Completions'),
      column('Duration'),
      column('Age'),
      column('Containers', 1),
      column('Images', 1),
      column('Selector', 1),
    ],
    cells: jobCells,
  },
  fields: {
    paths: {
      'status.successful': ['status.succeeded'],
    },
    // A status that does not speak of successes has had none.
    absent: { 'status.successful': '0' },
  },
  ratchets: [...POD_RATCHETS, PREFIXED_LABELS],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaultPropagation: 'orphan',
    defaults: defaultJob,
    prepareForCreate: prepareJob,
    validate: whenSpecChanged(validateJob),
    validateUpdate: validateJobUpdate,
    warnings: (job, old) => [
      ...podNameWarnings(job, old),
      ...jobSpecWarnings(part(job, 'spec'), old && part(old, 'spec'), 'spec'),
    ],
  },
});

const MAX_INT32 = 2 ** 31 - 1;

function defaultJob(job: ApiObject): void {
  const spec = part(job, 'spec');
  defaultPodTemplate(spec);
  if (spec.parallelism === undefined) spec.completions ??= 1;
  spec.parallelism ??= 1;
  // Where each index has a limit of its own, the job as a whole has none.
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  for (const rule of parts(part(spec, 'podFailurePolicy'), 'rules')) {
    for (const pattern of parts(rule, 'onPodConditions')) {
      if (pattern.status === '') pattern.status = 'True';
    }
  }
  inheritLabels(job);
}

function inheritLabels(job: ApiObject): void {
  const labels = part(job, 'spec', 'template', 'metadata', 'labels') as Record<string, string>;
  const none = Object.keys(job.metadata.labels ?? {}).length === 0;
  if (none && Object.keys(labels).length > 0) job.metadata.labels = { ...labels };
}

function prepareJob(job: ApiObject): void {
  job.status = {};
  const own = job.metadata.labels ?? {};
  // Labels that were taken from the template stay those of the template.
  const inherited = equal(own, part(job, 'spec', 'template', 'metadata', 'labels'));
  generateSelector(job);
  if (!inherited) return;
  delete job.metadata.labels;
  inheritLabels(job);
}
