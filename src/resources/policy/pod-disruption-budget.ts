import { count, part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { selectorRatchet } from '../validation/ratchet.ts';
import { validateBudget, validateBudgetStatus } from './validate-budget.ts';

export const poddisruptionbudgets = define({
  group: 'policy',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
  shortNames: ['pdb'],
  versions: [{ version: 'v1', type: 'policy/v1.PodDisruptionBudget' }],
  emptyStatus: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  validateStatus: validateBudgetStatus,
  table: {
    columns: [
      nameColumn(),
      column('Min Available'),
      column('Max Unavailable'),
      column('Allowed Disruptions', 0, 'integer'),
      column('Age'),
    ],
    cells: (budget, now) => {
      const spec = part(budget, 'spec');
      return [
        budget.metadata.name ?? '',
        text(spec.minAvailable, 'N/A'),
        text(spec.maxUnavailable, 'N/A'),
        count(part(budget, 'status').disruptionsAllowed),
        age(budget, now),
      ];
    },
  },
  ratchets: [selectorRatchet('spec\\.selector')],
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: true,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    validate: validateBudget,
  },
});
