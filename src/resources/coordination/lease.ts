import type { Lease } from '../../api/types/coordination/v1.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { checkQualifiedName } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked } from '../rules/checked.ts';
import { mustBeNonNegative } from '../rules/numbers.ts';

export const leases = define<Lease>({
  group: 'coordination.k8s.io',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
  versions: [{ version: 'v1', type: 'coordination/v1.Lease' }],
  table: {
    columns: [nameColumn(), column('Holder'), column('Age')],
    cells: (lease, now) => [lease.metadata.name ?? '', lease.spec?.holderIdentity ?? '', age(lease, now)],
  },
  strategy: {
    finalizersNeedDomains: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: checked(validate),
  },
});

function validate(root: FieldPath, { spec = {} }: Lease): void {
  const at = root.field('spec');
  const { leaseDurationSeconds: seconds, strategy, preferredHolder = '' } = spec;
  if (seconds !== undefined && seconds <= 0)
    at.field('leaseDurationSeconds').invalid(seconds, 'must be greater than 0');
  mustBeNonNegative(at.field('leaseTransitions'), spec.leaseTransitions);
  if (strategy !== undefined) mustBeLeaseStrategy(at.field('strategy'), strategy);
  if (preferredHolder !== '' && (strategy ?? '') === '')
    at.field('preferredHolder').forbidden('may only be specified if `strategy` is defined');
}

export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';

/** How a leader is chosen: Kubernetes' one strategy, or the qualified name of another. */
export function mustBeLeaseStrategy(at: FieldPath, strategy: string): void {
  const path = at.field('strategy');
  if (strategy.includes('/')) path.invalidFor(strategy, checkQualifiedName(strategy));
  else if (strategy !== OLDEST_EMULATION_VERSION) path.notSupported(strategy, [OLDEST_EMULATION_VERSION]);
}
