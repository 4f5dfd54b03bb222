import { isIPv6 } from 'node:net';
import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import {
  duplicate,
  eachInvalid,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../../../object/field-errors.ts';
import { checkIp, checkQualifiedName } from '../../../object/formats.ts';
import { count, part, parts, text } from '../../../object/parts.ts';
import { goAddress, goAddresses } from '../../validation/go-structs.ts';
import { each, isSet, numbers, validateName, validateRange } from '../../validation/values.ts';
import { validatePodAnnotationsUpdate } from './annotations.ts';

/** What a node agent or a scheduler may report of a pod (Kubernetes: core/validation, ValidatePodStatusUpdate). */
export function validatePodStatus(pod: ApiObject, old: ApiObject): FieldError[] {
  const status = part(pod, 'status');
  const before = part(old, 'status');
  return [
    ...validatePodAnnotationsUpdate(
      pod.metadata.annotations ?? {},
      old.metadata.annotations ?? {},
      'metadata.annotations',
    ),
    ...validateConditions(parts(status, 'conditions')),
    ...validateNominatedNode(status, before),
    ...validateTransitions(status, before, part(old, 'spec')),
    ...validateClaimStatuses(pod),
    ...validateAddresses(parts(status, 'podIPs'), 'status.podIPs'),
    ...validateHostAddresses(status),
    ...validateContainerStatuses(pod),
  ];
}

const OWN_CONDITIONS = ['PodScheduled', 'Ready', 'Initialized'];

function validateConditions(conditions: readonly JsonObject[]): FieldError[] {
  return each(conditions, 'metadata.conditions', ({ type }, at) =>
    OWN_CONDITIONS.includes(text(type))
      ? []
      : eachInvalid(`${at}.Type`, text(type), checkQualifiedName(text(type))),
  );
}

function validateNominatedNode({ nominatedNodeName: name }: JsonObject, old: JsonObject): FieldError[] {
  if (text(name) === '' || name === old.nominatedNodeName) return [];
  return validateName('status.nominatedNodeName', text(name), 'dns-subdomain');
}

/** A container that ended for good cannot be running again. */
function validateTransitions(status: JsonObject, old: JsonObject, spec: JsonObject): FieldError[] {
  const policy = text(spec.restartPolicy);
  if (policy === 'Always' && old.ephemeralContainerStatuses === undefined) return [];
  const restartable = new Set(
    parts(spec, 'initContainers')
      .filter(({ restartPolicy }) => restartPolicy === 'Always')
      .map(({ name }) => text(name)),
  );
  return [
    ...revived(status, old, 'containerStatuses', { policy, exempt: new Set() }),
    ...revived(status, old, 'initContainerStatuses', { policy, exempt: restartable }),
    ...revived(status, old, 'ephemeralContainerStatuses', { policy: 'Never', exempt: new Set() }),
  ];
}

interface Ending {
  readonly policy: string;
  readonly exempt: ReadonlySet<string>;
}

function revived(
  status: JsonObject,
  old: JsonObject,
  list: string,
  { policy, exempt }: Ending,
): FieldError[] {
  if (policy === 'Always') return [];
  const now = parts(status, list);
  return each(parts(old, list), `status.${list}`, (before, at) => {
    const ended = part(before, 'state', 'terminated');
    if (!isSet(part(before, 'state').terminated) || exempt.has(text(before.name))) return [];
    if (policy === 'OnFailure' && count(ended.exitCode) !== 0) return [];
    const again = now.some(
      (container) => container.name === before.name && !isSet(part(container, 'state').terminated),
    );
    if (!again) return [];
    return [forbiddenField(`${at}.state`, 'may not be transitioned to non-terminated state')];
  });
}

function validateClaimStatuses(pod: ApiObject): FieldError[] {
  const claims = parts(part(pod, 'spec'), 'resourceClaims').map(({ name }) => name);
  const seen = new Set<string>();
  const path = 'status.resourceClaimStatuses';
  return each(parts(part(pod, 'status'), 'resourceClaimStatuses'), path, (claim, at) => {
    const name = text(claim.name);
    const errors: FieldError[] = [];
    if (!claims.includes(name)) {
      const why = 'must match the name of an entry in `spec.resourceClaims`';
      errors.push(invalidValue(`${at}.name`, name, why));
    }
    if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    seen.add(name);
    const { resourceClaimName } = claim;
    return resourceClaimName === undefined
      ? errors
      : [...errors, ...validateName(`${at}.name`, text(resourceClaimName), 'dns-subdomain')];
  });
}

/** One address of each family. */
function validateAddresses(addresses: readonly JsonObject[], path: string): FieldError[] {
  const ips = addresses.map(({ ip }) => text(ip));
  const errors = each(ips, path, (ip, at) => eachInvalid(at, ip, checkIp(ip)));
  if (ips.length < 2) return errors;
  const families = new Set(ips.map(isIPv6)).size;
  if (families < 2 || ips.length > 2) {
    const why = 'may specify no more than one IP for each IP family';
    errors.push(invalidValue(path, goAddresses(path, addresses), why));
  }
  const repeated = each(ips, path, (ip, at, index) =>
    ips.indexOf(ip) < index ? [duplicate(at, goAddress(path, addresses[index]))] : [],
  );
  return [...errors, ...repeated];
}

function validateHostAddresses(status: JsonObject): FieldError[] {
  const addresses = parts(status, 'hostIPs');
  const [first] = addresses;
  if (first === undefined) return [];
  const differs = text(first.ip) !== text(status.hostIP);
  return [
    ...(differs ? [invalidValue('status.hostIPs[0].ip', first.ip, 'must be equal to `hostIP`')] : []),
    ...validateAddresses(addresses, 'status.hostIPs'),
  ];
}

const MAX_ID = 2 ** 31 - 1;
const LISTS: Readonly<Record<string, string>> = {
  containerStatuses: 'containers',
  initContainerStatuses: 'initContainers',
  ephemeralContainerStatuses: '',
};

function validateContainerStatuses(pod: ApiObject): FieldError[] {
  const spec = part(pod, 'spec');
  const windows = part(spec, 'os').name === 'windows';
  return Object.entries(LISTS).flatMap(([list, of]) =>
    each(parts(part(pod, 'status'), list), `status.${list}`, (status, at) => [
      ...validateUser(part(status, 'user'), `${at}.linux`, windows),
      ...validateDevices(status, `${at}.allocatedResourcesStatus`, of === '' ? undefined : parts(spec, of)),
    ]),
  );
}

function validateUser(user: JsonObject, path: string, windows: boolean): FieldError[] {
  if (user.linux === undefined) return [];
  if (windows) return [forbiddenField(path, 'cannot be set for a windows pod')];
  const linux = part(user, 'linux');
  return [
    ...validateRange(`${path}.uid`, linux.uid, 0, MAX_ID),
    ...validateRange(`${path}.gid`, linux.gid, 0, MAX_ID),
    ...each(numbers(linux, 'supplementalGroups'), `${path}.supplementalGroups`, (id, at) =>
      validateRange(at, id, 0, MAX_ID),
    ),
  ];
}

const HEALTH = ['Healthy', 'Unhealthy', 'Unknown'];

/** Health of devices a container has. `containers` is undefined for those that can have none. */
function validateDevices(
  status: JsonObject,
  path: string,
  containers: readonly JsonObject[] | undefined,
): FieldError[] {
  const allocated = parts(status, 'allocatedResourcesStatus');
  if (containers === undefined)
    return allocated.length === 0 ? [] : [forbiddenField(path, 'must not be specified in container status')];
  const container = containers.find(({ name }) => name === status.name);
  return each(allocated, path, (resource, at) => {
    const asked = container === undefined ? undefined : part(container, 'resources', 'requests');
    const why = "must match one of the container's resource requirements";
    const unasked = asked !== undefined && asked[text(resource.name)] === undefined;
    return [
      ...(unasked ? [invalidValue(`${at}.name`, resource.name, why)] : []),
      ...validateHealth(parts(resource, 'resources'), `${at}.resources`),
    ];
  });
}

function validateHealth(devices: readonly JsonObject[], path: string): FieldError[] {
  const seen = new Set<string>();
  return each(devices, path, (device, at) => {
    const id = text(device.resourceID);
    const health = text(device.health);
    const errors = HEALTH.includes(health) ? [] : [notSupported(`${at}.health`, health, HEALTH)];
    if (seen.has(id)) errors.push(duplicate(`${at}.resourceID`, id));
    seen.add(id);
    return errors;
  });
}
