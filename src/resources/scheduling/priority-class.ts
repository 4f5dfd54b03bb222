import { count } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validatePriorityClass, validatePriorityClassUpdate } from './validate-priority.ts';

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
      column('Value', 0, 'integer'),
      column('Global-Default', 0, 'boolean'),
      column('Age'),
    ],
    cells: (priority, now) => [
      priority.metadata.name ?? '',
      count(priority.value),
      priority.globalDefault === true,
      age(priority, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    validate: validatePriorityClass,
    validateUpdate: validatePriorityClassUpdate,
  },
});
