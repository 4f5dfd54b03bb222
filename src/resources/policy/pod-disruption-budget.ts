import type { PodDisruptionBudget } from '../../api/types/policy/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, selectorRatchet } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';
import { mustAllBeNonNegative, mustBeAtMostAll, mustBeIntOrPercent } from '../rules/numbers.ts';

export const poddisruptionbudgets = define<PodDisruptionBudget>({
  group: 'policy',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
  namespaced: true,
  shortNames: ['pdb'],
  versions: [{ version: 'v1', type: 'policy/v1.PodDisruptionBudget' }],
  emptyStatus: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
  validateStatus: checked(validateStatus),
  table: {
    columns: [
      nameColumn(),
      column('Min Available'),
      column('Max Unavailable'),
      column('Allowed Disruptions', 0, 'integer'),
      column('Age'),
    ],
    cells: (budget, now) => {
      const { metadata, spec = {}, status = {} } = budget;
      return [
        metadata.name ?? '',
        String(spec.minAvailable ?? 'N/A'),
        String(spec.maxUnavailable ?? 'N/A'),
        status.disruptionsAllowed ?? 0,
        age(budget, now),
      ];
    },
  },
  ratchets: [selectorRatchet('spec\\.selector')],
  strategy: {
    finalizersNeedDomains: false,
    tracksGeneration: true,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

/** How many must stay, or how many may go: one follows from the other, so that only one can be set. */
function validate(root: FieldPath, { spec = {} }: PodDisruptionBudget): void {
  const at = root.field('spec');
  if (spec.minAvailable !== undefined && spec.maxUnavailable !== undefined)
    at.invalid(spec, 'minAvailable and maxUnavailable cannot be both set');
  for (const field of ['minAvailable', 'maxUnavailable'] as const) {
    mustBeIntOrPercent(at.field(field), spec[field]);
    mustBeAtMostAll(at.field(field), spec[field]);
  }
  mustBeLabelSelector(at.field('selector'), spec.selector);
}

function validateStatus(root: FieldPath, { status = {} }: PodDisruptionBudget): void {
  const at = root.field('status');
  mustBeConditions(at.field('conditions'), status.conditions);
  mustAllBeNonNegative(at, status, [
    'disruptionsAllowed',
    'currentHealthy',
    'desiredHealthy',
    'expectedPods',
  ]);
}
