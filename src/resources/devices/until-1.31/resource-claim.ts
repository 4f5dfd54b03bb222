import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../../api/types/resource/v1alpha3.ts';
import { equal } from '../../../object/equality.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { age } from '../../cells.ts';
import { column, define, nameColumn } from '../../define.ts';
import { validateNodeSelector } from '../../pod/validation/placement.ts';
import { checked, checkedUpdate } from '../../rules/checked.ts';
import { mustNotChange } from '../../rules/immutable.ts';
import { mustBeName, mustBeOneOf } from '../../rules/name-rules.ts';
import { mustBeDistinct, mustBeDriverName, mustBePoolName, mustHaveAtMost } from '../device-names.ts';
import {
  MAX_CONFIGURATIONS,
  mustBeRequestName,
  mustBeRequestNames,
  requestNamesOf,
  setClaimDefaults,
  validateClaimSpec,
  validateConfiguration,
} from './claim-spec.ts';

export const resourceclaims = define<ResourceClaim>({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
  versions: [
    { version: 'v1alpha3', type: 'resource/v1alpha3.ResourceClaim', enabledByDefault: false, until: 32 },
  ],
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

const MAX_CONSUMERS = 32;
const MAX_RESULTS = 32;
const SOURCES = ['FromClaim', 'FromClass'];

/** The devices that a claim was given, and the objects that may use it. */
function validateStatus(root: FieldPath, claim: ResourceClaim, old: ResourceClaim): void {
  const at = root.field('status');
  const { spec = {}, status = {} } = claim;
  const { allocation, reservedFor = [] } = status;
  if (allocation !== undefined) validateAllocation(at.field('allocation'), allocation, requestNamesOf(spec));
  validateConsumers(at.field('reservedFor'), reservedFor);
  validateReservation(at.field('reservedFor'), claim, old.status?.reservedFor ?? []);
  validateDeallocation(at, status, old.status ?? {});
}

function validateConsumers(at: FieldPath, consumers: readonly ResourceClaimConsumerReference[]): void {
  for (const [path, consumer] of at.each(consumers))
    for (const name of ['resource', 'name', 'uid'] as const)
      if ((consumer[name] ?? '') === '') path.field(name).required();
  mustHaveAtMost(at, MAX_CONSUMERS, consumers);
  const uids = consumers.map(({ uid = '' }) => uid);
  mustBeDistinct(at, uids, 'uid');
}

function validateReservation(
  at: FieldPath,
  { metadata, status = {} }: ResourceClaim,
  before: readonly ResourceClaimConsumerReference[],
): void {
  const { allocation, reservedFor = [], deallocationRequested = false } = status;
  if (reservedFor.length === 0) return;
  if (allocation === undefined) {
    at.forbidden('may not be specified when `allocated` is not set');
    return;
  }
  const isEnding = metadata.deletionTimestamp !== undefined || deallocationRequested;
  const isNew = (consumer: ResourceClaimConsumerReference): boolean =>
    !before.some((known) => equal(known, consumer));
  if (isEnding && reservedFor.some(isNew))
    at.forbidden('new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set');
}

/** An allocation never changes; its deallocation, once requested, cannot be cancelled. */
function validateDeallocation(at: FieldPath, status: ResourceClaimStatus, old: ResourceClaimStatus): void {
  const path = at.field('deallocationRequested');
  const { allocation, reservedFor = [], deallocationRequested: isRequested = false } = status;
  const { allocation: oldAllocation, deallocationRequested: wasRequested = false } = old;
  if (allocation !== undefined && oldAllocation !== undefined)
    mustNotChange(at.field('allocation'), allocation, oldAllocation);
  if (!wasRequested && isRequested && reservedFor.length > 0)
    path.forbidden('deallocation cannot be requested while `reservedFor` is set');
  if (allocation === undefined && isRequested)
    at.forbidden('`allocation` must be set when `deallocationRequested` is set');
  if (wasRequested && !isRequested && allocation !== undefined)
    path.forbidden('may not be cleared when `allocation` is set');
}

function validateAllocation(
  at: FieldPath,
  { devices = {}, nodeSelector, controller = '' }: AllocationResult,
  known: ReadonlySet<string>,
): void {
  validateResults(at.field('devices').field('results'), devices.results ?? [], known);
  validateConfigurations(at.field('devices').field('config'), devices.config ?? [], known);
  if (nodeSelector !== undefined) validateNodeSelector(at.field('nodeSelector'), nodeSelector);
  if (controller !== '') mustBeDriverName(at.field('controller'), controller);
}

function validateResults(
  at: FieldPath,
  results: readonly DeviceRequestAllocationResult[],
  known: ReadonlySet<string>,
): void {
  for (const [path, { request = '', driver = '', pool = '', device = '' }] of at.each(results)) {
    mustBeRequestName(path.field('request'), request, known);
    mustBeDriverName(path.field('driver'), driver);
    mustBePoolName(path.field('pool'), pool);
    mustBeName(path.field('device'), device, 'dns-label');
  }
  mustHaveAtMost(at, MAX_RESULTS, results);
}

/** Configurations of the class and of the claim: twice as many as either may have. */
function validateConfigurations(
  at: FieldPath,
  configurations: readonly DeviceAllocationConfiguration[],
  known: ReadonlySet<string>,
): void {
  for (const [path, configuration] of at.each(configurations)) {
    const { source = '', requests = [] } = configuration;
    if (source === '') path.field('source').required();
    else mustBeOneOf(path.field('source'), source, SOURCES);
    mustBeRequestNames(path.field('requests'), requests, known);
    validateConfiguration(path, configuration);
  }
  mustHaveAtMost(at, 2 * MAX_CONFIGURATIONS, configurations);
}
