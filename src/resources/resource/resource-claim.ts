import type { ApiObject } from '../../api/object-meta.ts';
import { part, parts } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { has } from '../validation/fields.ts';
import { validateImmutableField } from '../validation/immutable.ts';
import { validateClaimSpec } from './validate-claim.ts';
import { validateClaimStatus } from './validate-claim-status.ts';
import { defaultRequests } from './validate-requests.ts';

export const resourceclaims = define({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
  versions: [{ version: 'v1alpha3', type: 'resource/v1alpha3.ResourceClaim', enabledByDefault: false }],
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  validateStatus: validateClaimStatus,
  table: {
    columns: [nameColumn(), column('State'), column('Age')],
    cells: (claim, now) => [claim.metadata.name ?? '', stateText(claim), age(claim, now)],
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: true,
    returnsDeletedObject: true,
    defaults: (claim) => defaultRequests(part(claim, 'spec', 'devices')),
    validate: (claim) => validateClaimSpec(part(claim, 'spec'), 'spec'),
    validateUpdate: (claim, old) => validateImmutableField('spec', claim.spec, old.spec),
  },
});

function stateText(claim: ApiObject): string {
  const status = part(claim, 'status');
  const deleted = has(claim.metadata, 'deletionTimestamp');
  const states = deleted ? ['deleted'] : [];
  if (!has(status, 'allocation')) return [...states, ...(deleted ? [] : ['pending'])].join(',');
  states.push('allocated');
  if (parts(status, 'reservedFor').length > 0) states.push('reserved');
  else if (deleted || status.deallocationRequested === true) states.push('deallocating');
  return states.join(',');
}
