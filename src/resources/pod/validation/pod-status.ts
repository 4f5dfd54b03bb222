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
  ResourceHealth,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkIp, checkQualifiedName } from '../../../object/formats.ts';
import { goAddress, goAddresses } from '../../rules/go-structs.ts';
import { mustBeName, mustBeOneOf } from '../../rules/names.ts';
import { mustBeWithin } from '../../rules/numbers.ts';
import { validatePodAnnotationsUpdate } from './annotations.ts';

/** Rules of a status that a node agent or a scheduler writes (Kubernetes: core/validation, ValidatePodStatusUpdate). */
export function validatePodStatus(root: FieldPath, pod: Pod, old: Pod): void {
  const { metadata, spec = {}, status = {} } = pod;
  const at = root.field('status');
  const annotations = root.field('metadata').field('annotations');
  validatePodAnnotationsUpdate(annotations, metadata.annotations ?? {}, old.metadata.annotations ?? {});
  validateConditions(root.field('metadata').field('conditions'), status.conditions);
  validateNominatedNode(at.field('nominatedNodeName'), status, old.status ?? {});
  validateTransitions(at, status, old);
  validateClaimStatuses(at.field('resourceClaimStatuses'), status, spec);
  validateAddresses(at.field('podIPs'), 'core.PodIP', status.podIPs ?? []);
  validateHostAddresses(at.field('hostIPs'), status);
  validateContainerStatuses(at, status, spec);
}

const OWN_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

function validateConditions(at: FieldPath, conditions: readonly PodCondition[] | undefined): void {
  for (const [path, { type = '' }] of at.each(conditions))
    if (!OWN_CONDITIONS.includes(type)) path.field('Type').invalidFor(type, checkQualifiedName(type));
}

function validateNominatedNode(
  at: FieldPath,
  { nominatedNodeName: name = '' }: PodStatus,
  old: PodStatus,
): void {
  if (name !== '' && name !== old.nominatedNodeName) mustBeName(at, name, 'dns-subdomain');
}

const NONE_EXEMPT: ReadonlySet<string> = new Set();

/** A container that ended for good cannot be running again. `at` is the status. */
function validateTransitions(at: FieldPath, status: PodStatus, { spec = {}, status: old = {} }: Pod): void {
  const policy = spec.restartPolicy ?? '';
  if (policy === 'Always' && old.ephemeralContainerStatuses === undefined) return;
  const restartable = new Set(
    (spec.initContainers ?? [])
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name = '' }) => name),
  );
  const refuse = (list: ContainerStatusList, ending: Ending): void =>
    refuseRevival(at.field(list), status[list] ?? [], old[list], ending);
  refuse('containerStatuses', { policy, exempt: NONE_EXEMPT });
  refuse('initContainerStatuses', { policy, exempt: restartable });
  refuse('ephemeralContainerStatuses', { policy: 'Never', exempt: NONE_EXEMPT });
}

type ContainerStatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses';

interface Ending {
  readonly policy: string;
  readonly exempt: ReadonlySet<string>;
}

function refuseRevival(
  at: FieldPath,
  statuses: readonly ContainerStatus[],
  old: readonly ContainerStatus[] | undefined,
  { policy, exempt }: Ending,
): void {
  if (policy === 'Always') return;
  for (const [path, { name = '', state }] of at.each(old)) {
    const { terminated } = state ?? {};
    if (terminated === undefined || exempt.has(name)) continue;
    if (policy === 'OnFailure' && (terminated.exitCode ?? 0) !== 0) continue;
    const isRevived = statuses.some((now) => now.name === name && now.state?.terminated === undefined);
    if (isRevived) path.field('state').forbidden('may not be transitioned to non-terminated state');
  }
}

function validateClaimStatuses(at: FieldPath, status: PodStatus, spec: PodSpec): void {
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  for (const [item, { name = '', resourceClaimName }] of at.each(status.resourceClaimStatuses)) {
    const path = item.field('name');
    if (!claims.has(name)) path.invalid(name, 'must match the name of an entry in `spec.resourceClaims`');
    if (seen.has(name)) path.duplicate(name);
    seen.add(name);
    if (resourceClaimName !== undefined) mustBeName(path, resourceClaimName, 'dns-subdomain');
  }
}

/** One address of each family. */
function validateAddresses(
  at: FieldPath,
  type: 'core.PodIP' | 'core.HostIP',
  addresses: readonly (PodIP | HostIP)[],
): void {
  const ips = addresses.map(({ ip = '' }) => ip);
  for (const [path, ip] of at.each(ips)) path.invalidFor(ip, checkIp(ip));
  if (ips.length < 2) return;
  if (ips.length > 2 || new Set(ips.map(isIPv6)).size < 2)
    at.invalid(goAddresses(type, addresses), 'may specify no more than one IP for each IP family');
  const seen = new Set<string>();
  for (const [path, address] of at.each(addresses)) {
    const { ip = '' } = address;
    if (seen.has(ip)) path.duplicate(goAddress(type, address));
    seen.add(ip);
  }
}

function validateHostAddresses(at: FieldPath, { hostIP = '', hostIPs = [] }: PodStatus): void {
  const [first] = hostIPs;
  if (first === undefined) return;
  if ((first.ip ?? '') !== hostIP) at.item(0).field('ip').invalid(first.ip, 'must be equal to `hostIP`');
  validateAddresses(at, 'core.HostIP', hostIPs);
}

function validateContainerStatuses(at: FieldPath, status: PodStatus, spec: PodSpec): void {
  const isWindows = spec.os?.name === 'windows';
  for (const [list, of] of [
    ['containerStatuses', 'containers'],
    ['initContainerStatuses', 'initContainers'],
    ['ephemeralContainerStatuses', undefined],
  ] as const)
    for (const [path, container] of at.field(list).each(status[list])) {
      validateUser(path.field('linux'), container.user ?? {}, isWindows);
      const containers = of === undefined ? undefined : (spec[of] ?? []);
      validateDevices(path.field('allocatedResourcesStatus'), container, containers);
    }
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
    if (container !== undefined && container.resources?.requests?.[name] === undefined)
      path.field('name').invalid(name, "must match one of the container's resource requirements");
    validateHealth(path.field('resources'), resources);
  }
}

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];

function validateHealth(at: FieldPath, devices: readonly ResourceHealth[] | undefined): void {
  const seen = new Set<string>();
  for (const [path, { resourceID: id = '', health = '' }] of at.each(devices)) {
    mustBeOneOf(path.field('health'), health, HEALTH);
    if (seen.has(id)) path.field('resourceID').duplicate(id);
    seen.add(id);
  }
}
