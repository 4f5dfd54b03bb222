import type { CronJob, JobSpec } from '../../api/types/batch/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age, containerCells, NONE, selectorText, since } from '../cells.ts';
import { column, define, nameColumn, type Table } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS } from '../pod/validation/pod.ts';
import { checked, type Ratchet, ratchetOf } from '../rules/checked.ts';
import { goLabelSelector } from '../rules/go-structs.ts';
import { mustAllBeNonNegative } from '../rules/numbers.ts';
import { podNameWarnings } from '../workload/workload-template.ts';
import { jobSpecWarnings } from './job/definition.ts';
import { validateJobSpec } from './job/validate.ts';
import { checkSchedule, checkTimeZone } from './schedule.ts';

const table: Table<CronJob> = {
  columns: [
    nameColumn(),
    column('Schedule'),
    column('Timezone'),
    column('Suspend', 0, 'boolean'),
    column('Active', 0, 'integer'),
    column('Last Schedule'),
    column('Age'),
    column('Containers', 1),
    column('Images', 1),
    column('Selector', 1),
  ],
  cells: (cronJob, now) => {
    const { metadata, spec = {}, status = {} } = cronJob;
    const { template, selector = {} } = spec.jobTemplate?.spec ?? {};
    return [
      metadata.name ?? '',
      spec.schedule ?? '',
      spec.timeZone || NONE,
      spec.suspend === true ? 'True' : 'False',
      (status.active ?? []).length,
      status.lastScheduleTime === undefined ? NONE : since(status.lastScheduleTime, now),
      age(cronJob, now),
      ...containerCells(template?.spec ?? {}),
      selectorText(selector),
    ];
  },
};

const SCHEDULE_RATCHETS: readonly Ratchet<CronJob>[] = [
  ratchetOf(/^metadata\.name$/, /must be no more than 52 characters$/),
  ratchetOf(/^spec\.schedule$/, /cannot use TZ or CRON_TZ in schedule/),
  // Known time zones depend on the machine.
  {
    ...ratchetOf(/^spec\.timeZone$/),
    allows: (old, cronJob) => old.spec?.timeZone === cronJob.spec?.timeZone,
  },
];

export const cronjobs = define<CronJob>({
  group: 'batch',
  resource: 'cronjobs',
  kind: 'CronJob',
  namespaced: true,
  shortNames: ['cj'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'batch/v1.CronJob' }],
  emptyStatus: {},
  table,
  podTemplate: {
    path: 'spec.jobTemplate.spec.template.spec',
    read: ({ spec }) => spec?.jobTemplate?.spec?.template,
  },
  ratchets: [...POD_RATCHETS, ...SCHEDULE_RATCHETS],
  strategy: {
    tracksGeneration: true,
    defaults: ({ spec }) => defaultPodTemplate(spec?.jobTemplate?.spec ?? {}),
    validate: checked(validate),
    warnings: (cronJob, old, isOn) => [
      ...podNameWarnings(cronJob, old),
      ...jobSpecWarnings(cronJob.spec?.jobTemplate?.spec, {
        old: old?.spec?.jobTemplate?.spec,
        path: 'spec.jobTemplate.spec',
        isOn,
      }),
    ],
  },
});

/** Jobs are called after the CronJob and their time, 11 characters, and must not exceed 63. */
const MAX_NAME_CHARS = 52;

function validate(root: FieldPath, { metadata, spec = {} }: CronJob): void {
  const { name = '' } = metadata;
  const at = root.field('spec');
  if (name.length > MAX_NAME_CHARS)
    root.field('metadata').field('name').invalid(name, `must be no more than ${MAX_NAME_CHARS} characters`);
  validateSchedule(at.field('schedule'), spec.schedule ?? '');
  if (spec.timeZone !== undefined)
    at.field('timeZone').invalidFor(spec.timeZone, checkTimeZone(spec.timeZone));
  mustAllBeNonNegative(at, spec, [
    'startingDeadlineSeconds',
    'successfulJobsHistoryLimit',
    'failedJobsHistoryLimit',
  ]);
  validateJobTemplate(at.field('jobTemplate').field('spec'), spec.jobTemplate?.spec ?? {});
}

/** A time zone inside the schedule would be a second, hidden one. */
function validateSchedule(at: FieldPath, schedule: string): void {
  if (schedule === '') {
    at.required();
    return;
  }
  const problem = checkSchedule(schedule);
  if (problem !== undefined) at.invalid(schedule, problem);
  if (schedule.includes('TZ'))
    at.invalid(schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead');
}

/** Each Job gets a selector of its own on creation. */
function validateJobTemplate(at: FieldPath, spec: JobSpec): void {
  validateJobSpec(at, spec);
  const { selector, manualSelector } = spec;
  if (selector !== undefined)
    at.field('selector').invalid(goLabelSelector(selector), '`selector` will be auto-generated');
  if (manualSelector === true) at.field('manualSelector').notSupported(true, ['nil', 'false']);
}
