import type { ApiObject } from '../../api/object-meta.ts';
import { count, part, text } from '../../object/parts.ts';
import { age, NONE } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { validateConditionTypes } from './conditions.ts';
import { DEFAULT_SHARES, priorityLevelV1beta3 } from './priority-level-v1beta3.ts';
import { validatePriorityLevel } from './validate-level.ts';

export const prioritylevelconfigurations = define({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'prioritylevelconfigurations',
  kind: 'PriorityLevelConfiguration',
  namespaced: false,
  versions: [
    { version: 'v1', type: 'flowcontrol/v1.PriorityLevelConfiguration' },
    {
      version: 'v1beta3',
      type: 'flowcontrol/v1beta3.PriorityLevelConfiguration',
      conversion: priorityLevelV1beta3,
    },
  ],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: validateConditionTypes,
  table: {
    columns: [
      nameColumn(),
      column('Type'),
      column('NominalConcurrencyShares'),
      column('Queues'),
      column('HandSize'),
      column('QueueLengthLimit'),
      column('Age'),
    ],
    cells: (level, now) => {
      const spec = part(level, 'spec');
      const limited = part(spec, 'limited');
      const queuing = part(limited, 'limitResponse', 'queuing');
      return [
        level.metadata.name ?? '',
        text(spec.type),
        has(spec, 'limited') ? count(limited.nominalConcurrencyShares) : NONE,
        ...['queues', 'handSize', 'queueLengthLimit'].map((name) =>
          has(queuing, name) ? count(queuing[name]) : NONE,
        ),
        age(level, now),
      ];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    defaults: defaultPriorityLevel,
    validate: validatePriorityLevel,
  },
});

/** Zero is a number like another here, so that these cannot be defaults of the type. */
function defaultPriorityLevel(level: ApiObject): void {
  const exempt = part(level, 'spec', 'exempt');
  exempt.nominalConcurrencyShares ??= 0;
  exempt.lendablePercent ??= 0;
  const limited = part(level, 'spec', 'limited');
  limited.nominalConcurrencyShares ??= DEFAULT_SHARES;
  limited.lendablePercent ??= 0;
}
