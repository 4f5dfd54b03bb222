import type { ApiObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../../object/parts.ts';
import { age, containerCells, NONE, selectorText, since } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/defaults.ts';
import { POD_RATCHETS } from '../pod/ratchets.ts';
import { podNameWarnings } from '../workload/template.ts';
import { jobSpecWarnings } from './job-warnings.ts';
import { SCHEDULE_RATCHETS, validateCronJob } from './validate-cron-job.ts';

export const cronjobs = define({
  group: 'batch',
  resource: 'cronjobs',
  kind: 'CronJob',
  namespaced: true,
  shortNames: ['cj'],
  categories: ['all'],
  versions: [{ version: 'v1', type: 'batch/v1.CronJob' }],
  emptyStatus: {},
  table: {
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
    cells: (job, now) => {
      const spec = part(job, 'spec');
      const status = part(job, 'status');
      return [
        job.metadata.name ?? '',
        text(spec.schedule),
        text(spec.timeZone, NONE),
        spec.suspend === true ? 'True' : 'False',
        parts(status, 'active').length,
        status.lastScheduleTime == null ? NONE : since(status.lastScheduleTime, now),
        age(job, now),
        ...containerCells(part(spec, 'jobTemplate', 'spec', 'template', 'spec')),
        selectorText(part(spec, 'jobTemplate', 'spec', 'selector')),
      ];
    },
  },
  ratchets: [...POD_RATCHETS, ...SCHEDULE_RATCHETS],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: (cronJob) => defaultPodTemplate(part(cronJob, 'spec', 'jobTemplate', 'spec')),
    validate: validateCronJob,
    warnings: cronJobWarnings,
  },
});

function cronJobWarnings(cronJob: ApiObject, old: ApiObject | undefined): string[] {
  const path = ['spec', 'jobTemplate', 'spec'];
  return [
    ...podNameWarnings(cronJob, old),
    ...jobSpecWarnings(part(cronJob, ...path), old && part(old, ...path), path.join('.')),
  ];
}
