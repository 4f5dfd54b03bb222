import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceRequestAllocationResult,
  NetworkDeviceData,
  ResourceClaim,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../api/types/resource/stored.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { formatIp, parseCidr } from '../../object/ip.ts';
import { checkCidr } from '../../object/text-formats.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateNodeSelector } from '../pod/validation/placement.ts';
import { checked, checkedUpdate } from '../rules/checked.ts';
import { mustBeConditions } from '../rules/condition-rules.ts';
import { mustNotChange } from '../rules/immutable.ts';
import { mustBeName, mustBeOneOf } from '../rules/name-rules.ts';
import { validateBinding } from './conditions-to-bind.ts';
import {
  mustBeRequestName,
  mustBeRequestNames,
  requestNamesOf,
  selectorsOf,
  setClaimDefaults,
  validateClaimSpec,
} from './device-claim-spec.ts';
import { MAX_CONFIGURATIONS, mustBeParameters, validateConfiguration } from './device-configuration.ts';
import { mustBeDistinct, mustBeDriverName, mustBePoolName } from './device-names.ts';
import { compilingSelectors } from './device-selectors.ts';
import { hasAtMost } from './list-limits.ts';
import { claimV1alpha3, claimV1beta1 } from './v1beta1.ts';

export const resourceclaims = define<ResourceClaim>({
  group: 'resource.k8s.io',
  resource: 'resourceclaims',
  kind: 'ResourceClaim',
  namespaced: true,
  versions: [
    { version: 'v1', type: 'resource/v1.ResourceClaim', since: 34 },
    { version: 'v1beta2', type: 'resource/v1beta2.ResourceClaim', enabledByDefault: false, since: 33 },
    {
      version: 'v1beta1',
      type: 'resource/v1beta1.ResourceClaim',
      enabledByDefault: false,
      conversion: claimV1beta1,
      since: 32,
    },
    {
      version: 'v1alpha3',
      type: 'resource/v1alpha3.ResourceClaim',
      enabledByDefault: false,
      conversion: claimV1alpha3,
      since: 32,
      until: 34,
    },
  ],
  storage: {
    group: 'resource.k8s.io',
    resource: 'resourceclaims',
    version: 'v1',
    type: 'resource/stored.ResourceClaim',
  },
  emptyStatus: {},
  statusResets: [['spec'], ['metadata']],
  prepareStatus: dropDeallocated,
  validateStatus: checkedUpdate(validateStatus),
  table: {
    columns: [nameColumn(), column('State'), column('Age')],
    cells: (claim, now) => [claim.metadata.name ?? '', stateText(claim), age(claim, now)],
  },
  strategy: {
    returnsDeletedObject: true,
    defaults: ({ spec = {} }) => setClaimDefaults(spec),
    validate: checked(validate),
    validateInSteps: compilingSelectors(validate, (root, { spec = {} }, old) =>
      old === undefined ? selectorsOf(root.field('spec'), spec) : [],
    ),
  },
});

/** The spec cannot change: only a new one is judged. */
function validate(root: FieldPath, { spec = {} }: ResourceClaim, old?: ResourceClaim): void {
  if (old === undefined) validateClaimSpec(root.field('spec'), spec);
}

/** `pending`, `allocated,reserved`, `deleted,allocated` */
function stateText({ metadata, status = {} }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const { allocation, reservedFor = [] } = status;
  if (allocation === undefined) return isDeleted ? 'deleted' : 'pending';
  const states = isDeleted ? ['deleted', 'allocated'] : ['allocated'];
  if (reservedFor.length > 0) states.push('reserved');
  return states.join(',');
}

type Place = Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>;

/** `gpu.example.com/node-1/gpu-0`, and with the id of its share if the device is shared */
const placeOf = ({ driver = '', pool = '', device = '', shareID }: Place): string =>
  [driver, pool, device, ...(shareID === undefined ? [] : [shareID])].join('/');

const placesOf = ({ allocation }: ResourceClaimStatus): ReadonlySet<string> =>
  new Set((allocation?.devices?.results ?? []).map(placeOf));

/** What drivers reported of devices goes with the devices. */
function dropDeallocated(claim: ResourceClaim, old: ResourceClaim): void {
  const { status } = claim;
  if (status?.devices === undefined) return;
  const now = placesOf(status);
  const before = placesOf(old.status ?? {});
  const kept = status.devices.filter((device) => now.has(placeOf(device)) || !before.has(placeOf(device)));
  if (kept.length > 0) status.devices = kept;
  else delete status.devices;
}

const MAX_CONSUMERS = 256;
const MAX_RESULTS = 32;
const SOURCES = ['FromClaim', 'FromClass'];

/** The devices that a claim was given, and the objects that may use it. An allocation never changes. */
function validateStatus(root: FieldPath, claim: ResourceClaim, old: ResourceClaim): void {
  const at = root.field('status');
  const { spec = {}, status = {} } = claim;
  const { allocation, devices = [] } = status;
  validateConsumers(at.field('reservedFor'), status.reservedFor ?? []);
  validateReservation(at.field('reservedFor'), claim, old.status?.reservedFor ?? []);
  validateDevices(at.field('devices'), devices, placesOf(status));
  const path = at.field('allocation');
  if (allocation === undefined) return;
  if (old.status?.allocation !== undefined) mustNotChange(path, allocation, old.status.allocation);
  else validateAllocation(path, allocation, requestNamesOf(spec));
}

function validateConsumers(at: FieldPath, consumers: readonly ResourceClaimConsumerReference[]): void {
  if (!hasAtMost(at, MAX_CONSUMERS, consumers)) return;
  for (const [path, consumer] of at.each(consumers))
    for (const name of ['resource', 'name', 'uid'] as const)
      if ((consumer[name] ?? '') === '') path.field(name).required();
  mustBeDistinct(
    at,
    consumers.map(({ uid = '' }) => uid),
    'uid',
  );
}

function validateReservation(
  at: FieldPath,
  { metadata, status = {} }: ResourceClaim,
  before: readonly ResourceClaimConsumerReference[],
): void {
  const { allocation, reservedFor = [] } = status;
  if (reservedFor.length === 0) return;
  if (allocation === undefined) {
    at.forbidden('may not be specified when `allocated` is not set');
    return;
  }
  if (metadata.deletionTimestamp === undefined) return;
  const known = new Set(before.map(consumerText));
  if (reservedFor.some((consumer) => !known.has(consumerText(consumer))))
    at.forbidden('new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set');
}

const consumerText = ({ apiGroup = '', resource, name, uid }: ResourceClaimConsumerReference): string =>
  JSON.stringify([apiGroup, resource, name, uid]);

function validateAllocation(
  at: FieldPath,
  { devices = {}, nodeSelector }: AllocationResult,
  known: ReadonlySet<string>,
): void {
  const { results = [], config = [] } = devices;
  const path = at.field('devices');
  if (hasAtMost(path.field('results'), MAX_RESULTS, results))
    for (const [item, result] of path.field('results').each(results)) validateResult(item, result, known);
  // Configurations of the class and of the claim: twice as many as either may have.
  if (hasAtMost(path.field('config'), 2 * MAX_CONFIGURATIONS, config))
    for (const [item, configuration] of path.field('config').each(config))
      validateAllocated(item, configuration, known);
  if (nodeSelector !== undefined) validateNodeSelector(at.field('nodeSelector'), nodeSelector, 32);
}

function validateResult(
  at: FieldPath,
  result: DeviceRequestAllocationResult,
  known: ReadonlySet<string>,
): void {
  mustBeRequestName(at.field('request'), result.request ?? '', known);
  validatePlace(at, result);
  validateBinding(at, result);
}

const UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NO_UID =
  'uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters';

function validatePlace(at: FieldPath, { driver = '', pool = '', device = '', shareID }: Place): void {
  mustBeDriverName(at.field('driver'), driver);
  mustBePoolName(at.field('pool'), pool);
  mustBeName(at.field('device'), device, 'dns-label');
  if (shareID !== undefined && !UID.test(shareID)) at.field('shareID').invalid(shareID, NO_UID);
}

function validateAllocated(
  at: FieldPath,
  configuration: DeviceAllocationConfiguration,
  known: ReadonlySet<string>,
): void {
  const { source = '', requests = [] } = configuration;
  if (source === '') at.field('source').required();
  else mustBeOneOf(at.field('source'), source, SOURCES);
  mustBeRequestNames(at.field('requests'), requests, known);
  validateConfiguration(at, configuration);
}

const MAX_CONDITIONS = 8;

function validateDevices(
  at: FieldPath,
  devices: readonly AllocatedDeviceStatus[],
  allocated: ReadonlySet<string>,
): void {
  for (const [path, device] of at.each(devices)) {
    const { conditions = [], data, networkData } = device;
    validatePlace(path, device);
    if (!allocated.has(placeOf(device)))
      path.invalid(placeOf(device), 'must be an allocated device in the claim');
    hasAtMost(path.field('conditions'), MAX_CONDITIONS, conditions);
    mustBeConditions(path.field('conditions'), conditions);
    if (data !== undefined) mustBeParameters(path.field('data'), data);
    if (networkData !== undefined) validateNetwork(path.field('networkData'), networkData);
  }
  mustBeDistinct(at, devices.map(placeOf), 'deviceID');
}

const MAX_IPS = 16;
const MAX_INTERFACE = 256;
const MAX_HARDWARE = 128;

function validateNetwork(at: FieldPath, data: NetworkDeviceData): void {
  const { interfaceName = '', hardwareAddress = '', ips = [] } = data;
  if (Buffer.byteLength(interfaceName) > MAX_INTERFACE) at.field('interfaceName').tooLong(MAX_INTERFACE);
  if (Buffer.byteLength(hardwareAddress) > MAX_HARDWARE) at.field('hardwareAddress').tooLong(MAX_HARDWARE);
  if (!hasAtMost(at.field('ips'), MAX_IPS, ips)) return;
  for (const [path, ip] of at.field('ips').each(ips)) mustBeInterfaceAddress(path, ip);
  mustBeDistinct(at.field('ips'), ips);
}

const NO_ADDRESS = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)';

/** An address with the size of its network, in canonical form since 1.33: `192.168.1.5/24`. */
function mustBeInterfaceAddress(at: FieldPath, text: string): void {
  const range = parseCidr(text);
  if (at.minor < 33) {
    at.invalidFor(text, checkCidr(text));
    return;
  }
  if (range === undefined) {
    at.invalid(text, NO_ADDRESS);
    return;
  }
  const canonical = `${formatIp(range.bytes)}/${range.prefixBits}`;
  if (text !== canonical) at.invalid(text, `must be in canonical form (${JSON.stringify(canonical)})`);
}
