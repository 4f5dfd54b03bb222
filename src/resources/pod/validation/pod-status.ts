import { isIPv6 } from 'node:net';
import type {
  Container,
  ContainerStatus,
  ContainerUser,
  HostIP,
  Pod,
  PodCondition,
  PodIP,
  PodSpec,
  PodStatus,
  ResourceClaim,
  ResourceHealth,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { isNativeResource } from '../../../object/resource-list.ts';
import { checkQualifiedName } from '../../../object/text-formats.ts';
import { goAddress, goAddresses } from '../../rules/go-structs.ts';
import { mustNotChange } from '../../rules/immutable.ts';
import { mustBeIp } from '../../rules/ip-rules.ts';
import { mustBeName, mustBeOneOf } from '../../rules/name-rules.ts';
import { mustBeWithin, nanosOf } from '../../rules/numbers.ts';
import { validatePodAnnotationsUpdate } from './annotations.ts';
import { validateTransitions } from './status-transitions.ts';

/** Rules of a status that a node agent or a scheduler writes (Kubernetes: core/validation, ValidatePodStatusUpdate). */
export function validatePodStatus(root: FieldPath, pod: Pod, old: Pod): void {
  const { metadata, spec = {}, status = {} } = pod;
  const at = root.field('status');
  const annotations = root.field('metadata').field('annotations');
  validatePodAnnotationsUpdate(annotations, metadata.annotations ?? {}, old.metadata.annotations ?? {});
  const isLate = root.minor >= 33;
  const conditions = isLate ? at.field('conditions') : root.field('metadata').field('conditions');
  validateConditions(conditions, status.conditions);
  validateNominatedNode(at.field('nominatedNodeName'), status, old);
  if (isLate) {
    mustBeGeneration(at, status);
    mustNotChange(at.field('qosClass'), status.qosClass ?? '', old.status?.qosClass ?? '');
  }
  validateTransitions(at, status, old);
  validateClaimStatuses(at.field('resourceClaimStatuses'), status, spec);
  validateExtendedClaim(at.field('extendedResourceClaimStatus'), status, spec);
  validateNodeClaims(at.field('nodeAllocatableResourceClaimStatuses'), status, spec);
  validateAddresses(at.field('podIPs'), 'core.PodIP', [status.podIPs ?? [], old.status?.podIPs ?? []]);
  validateHostAddresses(at.field('hostIPs'), status, old.status ?? {});
  validateContainerStatuses(at, status, spec);
}

const OWN_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

function validateConditions(at: FieldPath, conditions: readonly PodCondition[] | undefined): void {
  for (const [path, condition] of at.each(conditions)) {
    const { type = '' } = condition;
    if (at.minor >= 33) mustBeGeneration(path, condition);
    if (!OWN_CONDITIONS.includes(type)) path.field('Type').invalidFor(type, checkQualifiedName(type));
  }
}

/** `at` is what has the generation. */
function mustBeGeneration(at: FieldPath, { observedGeneration = 0 }: PodStatus | PodCondition): void {
  if (observedGeneration < 0)
    at.field('observedGeneration').invalid(observedGeneration, 'must be a non-negative integer');
}

function validateNominatedNode(at: FieldPath, { nominatedNodeName: name = '' }: PodStatus, old: Pod): void {
  if (name === '' || name === old.status?.nominatedNodeName) return;
  mustBeName(at, name, 'dns-subdomain');
  if ((old.spec?.nodeName ?? '') !== '' && at.isOn('ClearingNominatedNodeNameAfterBinding'))
    at.forbidden('may not be set on pods that are already bound to a node');
}

function validateClaimStatuses(at: FieldPath, status: PodStatus, spec: PodSpec): void {
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  for (const [item, { name = '', resourceClaimName }] of at.each(status.resourceClaimStatuses)) {
    const path = item.field('name');
    if (!claims.has(name)) path.invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
    if (resourceClaimName !== undefined)
      mustBeName(at.minor < 36 ? path : item.field('resourceClaimName'), resourceClaimName, 'dns-subdomain');
  }
}

/** The claim that a scheduler made for resources that devices stand for: each request of it is for one resource of a container. */
function validateExtendedClaim(
  at: FieldPath,
  { extendedResourceClaimStatus: claim }: PodStatus,
  spec: PodSpec,
): void {
  if (claim === undefined) return;
  const mappings = claim.requestMappings ?? [];
  const list = at.field('requestMappings');
  if (mappings.length === 0) list.required('at least one request mapping is required');
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const seen = new Set<string>();
  for (const [path, mapping] of list.each(mappings)) {
    const { containerName = '', resourceName = '', requestName = '' } = mapping;
    const container = containers.find(({ name }) => name === containerName);
    if (container === undefined)
      path
        .field('containerName')
        .invalid(
          containerName,
          'must match the name of an entry in spec.initContainers.name or spec.containers.name',
        );
    else if (container.resources?.requests?.[resourceName] === undefined)
      path
        .field('resourceName')
        .invalid(
          resourceName,
          'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests',
        );
    mustBeName(at.field('requestName'), requestName, 'dns-label');
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key))
      for (const field of ['containerName', 'resourceName', 'requestName'] as const)
        path.field(field).duplicate(mapping[field]);
    seen.add(key);
  }
  const { resourceClaimName: name = '' } = claim;
  if (name === '') at.field('resourceClaimName').required();
  else mustBeName(at.field('resourceClaimName'), name, 'dns-subdomain');
}

/** Claims of the pod that take a part of the node's own resources. */
function validateNodeClaims(at: FieldPath, status: PodStatus, { resourceClaims = [] }: PodSpec): void {
  const claims = [...resourceClaims, ...(status.resourceClaimStatuses ?? [])];
  const known = new Set(claims.flatMap(({ resourceClaimName }) => resourceClaimName ?? []));
  for (const [path, claim] of at.each(status.nodeAllocatableResourceClaimStatuses)) {
    const { resourceClaimName: name = '', containers = [], resources } = claim;
    if (!known.has(name)) path.field('resourceClaimName').invalid(name, 'no mapping found in pod reference');
    if (containers.length === 0) path.field('containers').required('must not be empty');
    for (const [item, resource, amount] of path.field('resources').entries(resources)) {
      if (!isNativeResource(resource)) item.invalid(resource, 'must be a node allocatable resource name');
      if (nanosOf(amount) < 0n) item.invalid(amount, 'must be non-negative');
    }
  }
}

type Address = PodIP | HostIP;

/** One address of each family. Since 1.33, those that are stored are not judged again, and none is reported as a duplicate. */
function validateAddresses(
  at: FieldPath,
  type: 'core.PodIP' | 'core.HostIP',
  [addresses, before]: readonly [readonly Address[], readonly Address[]],
): void {
  const ips = addresses.map(({ ip = '' }) => ip);
  const isLate = at.minor >= 33;
  const known = new Set(isLate ? before.map(({ ip }) => ip) : []);
  for (const [path, ip] of at.each(ips)) if (!known.has(ip)) mustBeIp(path, ip);
  if (ips.length < 2) return;
  if (ips.length > 2 || new Set(ips.map(isIPv6)).size < 2)
    at.invalid(goAddresses(type, addresses), 'may specify no more than one IP for each IP family');
  if (isLate) return;
  const seen = new Set<string>();
  for (const [path, address] of at.each(addresses)) {
    const { ip = '' } = address;
    if (seen.has(ip)) path.duplicate(goAddress(type, address));
    seen.add(ip);
  }
}

function validateHostAddresses(
  at: FieldPath,
  { hostIP = '', hostIPs = [] }: PodStatus,
  { hostIPs: before = [] }: PodStatus,
): void {
  const [first] = hostIPs;
  if (first === undefined) return;
  if ((first.ip ?? '') !== hostIP) at.item(0).field('ip').invalid(first.ip, 'must be equal to `hostIP`');
  validateAddresses(at, 'core.HostIP', [hostIPs, before]);
}

function validateContainerStatuses(at: FieldPath, status: PodStatus, spec: PodSpec): void {
  const isWindows = spec.os?.name === 'windows';
  for (const [list, of] of [
    ['containerStatuses', 'containers'],
    ['initContainerStatuses', 'initContainers'],
    ['ephemeralContainerStatuses', undefined],
  ] as const)
    for (const [path, container] of at.field(list).each(status[list])) {
      const user = at.minor < 33 ? path : path.field('user');
      validateUser(user.field('linux'), container.user ?? {}, isWindows);
      for (const [mount, { volumeStatus }] of path.field('volumeMounts').each(container.volumeMounts))
        mustBeShort(
          mount.field('volumeStatus').field('imageVolumeStatus').field('imageRef'),
          volumeStatus?.image?.imageRef,
          MAX_IMAGE_BYTES,
        );
      const containers = of === undefined ? undefined : (spec[of] ?? []);
      validateDevices(path.field('allocatedResourcesStatus'), container, containers);
    }
}

const MAX_IMAGE_BYTES = 256;
const MAX_MESSAGE_BYTES = 1024;

function mustBeShort(at: FieldPath, text = '', most: number): void {
  if (Buffer.byteLength(text) > most) at.tooLong(most);
}

const IDS = { least: 0, most: 2 ** 31 - 1 };

function validateUser(at: FieldPath, { linux }: ContainerUser, isWindows: boolean): void {
  if (linux === undefined) return;
  if (isWindows) {
    at.forbidden('cannot be set for a windows pod');
    return;
  }
  mustBeWithin(at.field('uid'), linux.uid, IDS);
  mustBeWithin(at.field('gid'), linux.gid, IDS);
  for (const [path, id] of at.field('supplementalGroups').each(linux.supplementalGroups))
    mustBeWithin(path, id, IDS);
}

/** Health of devices a container has. `containers` is undefined for those that can have none. */
function validateDevices(
  at: FieldPath,
  { name: ofContainer, allocatedResourcesStatus: allocated = [] }: ContainerStatus,
  containers: readonly Container[] | undefined,
): void {
  if (containers === undefined) {
    if (allocated.length > 0) at.forbidden('must not be specified in container status');
    return;
  }
  const container = containers.find(({ name }) => name === ofContainer);
  for (const [path, { name = '', resources }] of at.each(allocated)) {
    if (container !== undefined) mustBeRequested(path.field('name'), name, container);
    validateHealth(path.field('resources'), resources);
  }
}

/** Since 1.32 the devices of claims have a health too. */
function mustBeRequested(at: FieldPath, name: string, { resources = {} }: Container): void {
  const isRequested = resources.requests?.[name] !== undefined;
  if (at.minor < 32) {
    if (!isRequested) at.invalid(name, "must match one of the container's resource requirements");
  } else if (!name.startsWith('claim:')) {
    if (!isRequested) at.invalid(name, "must match one of the container's resource requests");
  } else if (!(resources.claims ?? []).some((claim) => name === deviceName(claim)))
    at.invalid(
      name,
      "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
    );
}

const deviceName = ({ name = '', request = '' }: ResourceClaim): string =>
  `claim:${name}${request === '' ? '' : `/${request}`}`;

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];

function validateHealth(at: FieldPath, devices: readonly ResourceHealth[] | undefined): void {
  const seen = new Set<string>();
  for (const [path, { resourceID: id = '', health = '', message }] of at.each(devices)) {
    mustBeOneOf(path.field('health'), health, HEALTH);
    if (message === '') path.field('message').required('must be non-empty if specified');
    mustBeShort(path.field('message'), message, MAX_MESSAGE_BYTES);
    if (seen.has(id)) path.field('resourceID').duplicate(id);
    seen.add(id);
  }
}
