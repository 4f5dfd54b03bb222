import type { ApiObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { forbiddenField, invalidValue } from '../../object/field-errors.ts';
import { count, part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { validateLeaseStrategy } from './validate-strategy.ts';

export const leases = define({
  group: 'coordination.k8s.io',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
  versions: [{ version: 'v1', type: 'coordination/v1.Lease' }],
  table: {
    columns: [nameColumn(), column('Holder'), column('Age')],
    cells: (lease, now) => [
      lease.metadata.name ?? '',
      text(part(lease, 'spec').holderIdentity),
      age(lease, now),
    ],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateLease,
  },
});

function validateLease(lease: ApiObject): FieldError[] {
  const spec = part(lease, 'spec');
  const strategy = text(spec.strategy);
  const errors: FieldError[] = [];
  if (has(spec, 'leaseDurationSeconds') && count(spec.leaseDurationSeconds) <= 0) {
    const path = 'spec.leaseDurationSeconds';
    errors.push(invalidValue(path, spec.leaseDurationSeconds, 'must be greater than 0'));
  }
  if (count(spec.leaseTransitions) < 0) {
    const path = 'spec.leaseTransitions';
    errors.push(invalidValue(path, spec.leaseTransitions, 'must be greater than or equal to 0'));
  }
  if (has(spec, 'strategy')) errors.push(...validateLeaseStrategy(strategy, 'spec.strategy'));
  if (text(spec.preferredHolder) !== '' && strategy === '') {
    const why = 'may only be specified if `strategy` is defined';
    errors.push(forbiddenField('spec.preferredHolder', why));
  }
  return errors;
}
