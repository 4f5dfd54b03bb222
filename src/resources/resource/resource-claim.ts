import type { ResourceClaim } from '../../api/types/resource/v1alpha3.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { setClaimDefaults, validateClaimSpec } from './claim-spec.ts';
import { validateStatus } from './claim-status.ts';

export const resourceclaims = define<ResourceClaim>({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
  versions: [{ version: 'v1alpha3', type: 'resource/v1alpha3.ResourceClaim', enabledByDefault: false }],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: checkedUpdate(validateStatus),
  table: {
    columns: [nameColumn(), column('State'), column('Age')],
    cells: (claim, now) => [claim.metadata.name ?? '', stateText(claim), age(claim, now)],
  },
  strategy: {
    returnsDeletedObject: true,
    defaults: ({ spec = {} }) => setClaimDefaults(spec),
    validate: checked((at, { spec = {} }) => validateClaimSpec(at.field('spec'), spec)),
  },
});

/** `pending`, `allocated,reserved`, `deleted,allocated,deallocating` */
function stateText({ metadata, status = {} }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const { allocation, reservedFor = [], deallocationRequested = false } = status;
  if (allocation === undefined) return isDeleted ? 'deleted' : 'pending';
  const states = isDeleted ? ['deleted', 'allocated'] : ['allocated'];
  if (reservedFor.length > 0) states.push('reserved');
  else if (isDeleted || deallocationRequested) states.push('deallocating');
  return states.join(',');
}
