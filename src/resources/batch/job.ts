import { part } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { defaultPodTemplate } from '../pod/pod-defaults.ts';
import { jobCells } from './job-cells.ts';
import { generateSelector } from './job-selector.ts';

export const jobs = define({
  group: 'batch',
  resource: 'jobs',
  kind: 'Job',
  namespaced: true,
  categories: ['all'],
  versions: [{ version: 'v1', type: 'batch/v1.Job' }],
  emptyStatus: {},
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
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaultPropagation: 'orphan',
    defaults: (object) => {
      const spec = part(object, 'spec');
      defaultPodTemplate(spec);
      if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
      spec.parallelism ??= 1;
      spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
    },
    prepareForCreate: (job) => {
      job.status = {};
      generateSelector(job);
    },
  },
});
