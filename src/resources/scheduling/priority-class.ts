import { age, count, text } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';

export const priorityclasses = define({
  group: 'scheduling.k8s.io',
  resource: 'priorityclasses',
  kind: 'PriorityClass',
  namespaced: false,
  shortNames: ['pc'],
  versions: [{ version: 'v1', type: 'scheduling/v1.PriorityClass' }],
  table: {
    columns: [
      nameColumn(),
      column('Value'),
      column('Global-Default'),
      column('Age'),
      column('PreemptionPolicy'),
    ],
    cells: (priority, now) => [
      priority.metadata.name ?? '',
      count(priority.value),
      priority.globalDefault === true,
      age(priority, now),
      text(priority.preemptionPolicy),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
  },
});
