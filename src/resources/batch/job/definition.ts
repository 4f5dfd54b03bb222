import type { Gates } from '../../../api/feature-gates.ts';
import type { Job, JobSpec } from '../../../api/types/batch/v1.ts';
import { equal } from '../../../object/equality.ts';
import { age, containerCells, humanDuration, selectorText, since } from '../../cells.ts';
import { column, define, nameColumn, type Table } from '../../define.ts';
import { defaultPodTemplate } from '../../pod/defaults.ts';
import { POD_RATCHETS } from '../../pod/validation/pod.ts';
import { podTemplateWarnings } from '../../pod/warnings.ts';
import { checked, checkedUpdate, whenSpecChanged } from '../../rules/checked.ts';
import { podNameWarnings, SPEC_TEMPLATE } from '../../workload/workload-template.ts';
import { hasCondition, validateStatus } from './job-status.ts';
import { generateSelector, PREFIXED_LABELS } from './selector.ts';
import { validate, validateUpdate } from './validate.ts';

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

/** A job without labels has those of its pods: the same object, by which they differ from equal labels that were sent. */
function inheritLabels({ metadata, spec = {} }: Job): void {
  const { labels = {} } = spec.template?.metadata ?? {};
  const hasNone = Object.keys(metadata.labels ?? {}).length === 0;
  if (hasNone && Object.keys(labels).length > 0) metadata.labels = labels;
}

function prepare(job: Job): void {
  job.status = {};
  // Labels that were taken from the template stay those of the template, unless a webhook has made the object anew.
  const areInherited = job.metadata.labels === job.spec?.template?.metadata?.labels;
  generateSelector(job);
  if (areInherited) delete job.metadata.labels;
  inheritLabels(job);
}

/** The first that holds is shown. */
const STATES = ['Complete', 'Failed', 'Suspended', 'FailureTarget'];

const tableWith = (states: readonly string[]): Table<Job> => ({
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
  cells: (job, now) => {
    const { metadata, spec = {} } = job;
    return [
      metadata.name ?? '',
      stateOf(job, states),
      completionsOf(job),
      durationOf(job, now),
      age(job, now),
      ...containerCells(spec.template?.spec ?? {}),
      selectorText(spec.selector ?? {}),
    ];
  },
});

export const jobs = define<Job>({
  group: 'batch',
  resource: 'jobs',
  kind: 'Job',
  namespaced: true,
  categories: ['all'],
  versions: [{ version: 'v1', type: 'batch/v1.Job' }],
  emptyStatus: {},
  validateStatus: checkedUpdate(validateStatus),
  table: tableWith([...STATES, 'SuccessCriteriaMet']),
  olderTables: [{ until: 34, ...tableWith(STATES) }],
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
    propagationWarning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    defaults: setDefaults,
    prepareForCreate: prepare,
    validate: checked(whenSpecChanged(validate)),
    validateUpdate: checkedUpdate(validateUpdate),
    warnings: (job, old, isOn) => [
      ...podNameWarnings(job, old),
      ...jobSpecWarnings(job.spec, { old: old?.spec, path: 'spec', isOn }),
    ],
  },
});

function stateOf(job: Job, states: readonly string[]): string {
  const hasEnded = hasCondition(job, 'Complete') || hasCondition(job, 'Failed');
  if (job.metadata.deletionTimestamp !== undefined && !hasEnded) return 'Terminating';
  return states.find((type) => hasCondition(job, type)) ?? 'Running';
}

function completionsOf({ spec = {}, status = {} }: Job): string {
  const { completions, parallelism = 0 } = spec;
  const { succeeded = 0 } = status;
  if (completions !== undefined) return `${succeeded}/${completions}`;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationOf({ status = {} }: Job, now: number): string {
  const { startTime, completionTime } = status;
  if (startTime === undefined) return '';
  if (completionTime === undefined) return since(startTime, now);
  return humanDuration(Date.parse(completionTime) - Date.parse(startTime));
}

const MANY_COMPLETIONS = 100_000;
const MUCH_PARALLELISM = 10_000;

/** Warnings about a JobSpec at `path`, in a Job or in the template of a CronJob; none when it is as before. */
export function jobSpecWarnings(
  spec: JobSpec = {},
  {
    old,
    path,
    isOn,
  }: { readonly old: JobSpec | undefined; readonly path: string; readonly isOn?: Gates | undefined },
): string[] {
  if (old !== undefined && equal(spec, old)) return [];
  const { completionMode, completions = 0, parallelism = 0, template = {} } = spec;
  const isLarge = completions > MANY_COMPLETIONS && parallelism > MUCH_PARALLELISM;
  const why =
    'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail';
  return [
    ...(completionMode === 'Indexed' && isLarge ? [`${path}: ${why}`] : []),
    ...podTemplateWarnings(template, `${path}.template`, isOn),
  ];
}
