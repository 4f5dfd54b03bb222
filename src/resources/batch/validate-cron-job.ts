import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, notSupported, required } from '../../object/field-errors.ts';
import { part, text } from '../../object/parts.ts';
import { goLabelSelector, invalidShown } from '../validation/notation.ts';
import { validateCounts } from '../validation/numbers.ts';
import { type Ratchet, ratchetOf } from '../validation/ratchet.ts';
import { checkSchedule } from './schedule.ts';
import { checkTimeZone } from './time-zone.ts';
import { validateJobSpec } from './validate-job-spec.ts';

/** Jobs are called after the CronJob and their time, 11 characters, and must not exceed 63. */
const MAX_NAME_CHARS = 52;
const COUNTS = ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'];

export const SCHEDULE_RATCHETS: readonly Ratchet[] = [
  ratchetOf(/^metadata\.name$/, /must be no more than 52 characters$/),
  ratchetOf(/^spec\.schedule$/, /cannot use TZ or CRON_TZ in schedule/),
  // Which time zones there are depends on the machine that is asked.
  {
    ...ratchetOf(/^spec\.timeZone$/),
    allows: (old, cronJob) => part(old, 'spec').timeZone === part(cronJob, 'spec').timeZone,
  },
];

export function validateCronJob(cronJob: ApiObject): FieldError[] {
  const spec = part(cronJob, 'spec');
  const { name = '' } = cronJob.metadata;
  return [
    ...(name.length > MAX_NAME_CHARS
      ? [invalidValue('metadata.name', name, `must be no more than ${MAX_NAME_CHARS} characters`)]
      : []),
    ...validateSchedule(text(spec.schedule)),
    ...validateTimeZone(spec),
    ...validateCounts(spec, COUNTS, 'spec'),
    ...validateJobTemplate(part(spec, 'jobTemplate', 'spec')),
  ];
}

/** A time zone inside the schedule would be a second one, which nobody sees. */
function validateSchedule(schedule: string): FieldError[] {
  const field = 'spec.schedule';
  if (schedule === '') return [required(field)];
  const problem = checkSchedule(schedule);
  const errors = problem === undefined ? [] : [invalidValue(field, schedule, problem)];
  if (!schedule.includes('TZ')) return errors;
  const why = 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead';
  return [...errors, invalidValue(field, schedule, why)];
}

function validateTimeZone({ timeZone }: JsonObject): FieldError[] {
  if (timeZone === undefined) return [];
  return eachInvalid('spec.timeZone', timeZone, checkTimeZone(text(timeZone)));
}

/** Each Job gets a selector of its own when it is made. */
function validateJobTemplate(spec: JsonObject): FieldError[] {
  const path = 'spec.jobTemplate.spec';
  const errors = validateJobSpec(spec, path);
  if (spec.selector !== undefined) {
    const shown = goLabelSelector(part(spec, 'selector'));
    errors.push(invalidShown(`${path}.selector`, shown, '`selector` will be auto-generated'));
  }
  if (spec.manualSelector === true) {
    errors.push(notSupported(`${path}.manualSelector`, true, ['nil', 'false']));
  }
  return errors;
}
