import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { equal } from '../../object/equality.ts';
import { count, part, parts, text } from '../../object/parts.ts';
import { strings } from '../validation/values.ts';
import {
  isExternallyAccessible,
  isLoadBalancer,
  needsClusterIp,
  needsHealthCheckNodePort,
  needsNodePorts,
  usesNodePorts,
} from './service-kind.ts';

/**
 * What an update of a service means where it does not say so: values that were assigned stay, clusterIP and clusterIPs go
 * together, and what the new type has no use for goes, unless the caller changed it too: then validation has its say.
 * Assigning new values comes between the second and the third (service-assignment.ts).
 */

/** Lets clients send the manifest they created the service from: they need not know what was assigned. */
export function keepAssigned(service: ApiObject, old: ApiObject): void {
  const spec = part(service, 'spec');
  const before = part(old, 'spec');
  if (needsClusterIp(before) && needsClusterIp(spec)) {
    if (text(spec.clusterIP) === '' && text(before.clusterIP) !== '') spec.clusterIP = text(before.clusterIP);
    if (strings(spec, 'clusterIPs').length === 0 && strings(before, 'clusterIPs').length > 0) {
      spec.clusterIPs = strings(before, 'clusterIPs');
    }
  }
  if (needsNodePorts(before) && needsNodePorts(spec)) keepNodePorts(spec, before);
  if (needsHealthCheckNodePort(before) && needsHealthCheckNodePort(spec)) {
    const port = count(spec.healthCheckNodePort) || count(before.healthCheckNodePort);
    if (port !== 0) spec.healthCheckNodePort = port;
  }
}

/** By the name of the port; everything else about it may have changed. */
function keepNodePorts(spec: JsonObject, before: JsonObject): void {
  const known = nodePortsOf(before);
  const given = nodePortsOf(spec);
  const byName = new Map(parts(before, 'ports').map(({ name, nodePort }) => [text(name), count(nodePort)]));
  for (const port of parts(spec, 'ports')) {
    const nodePort = byName.get(text(port.name)) ?? 0;
    const taken = known.has(nodePort) && given.has(nodePort);
    if (count(port.nodePort) === 0 && nodePort !== 0 && !taken) port.nodePort = nodePort;
  }
}

const nodePortsOf = (spec: JsonObject): Set<number> =>
  new Set(
    parts(spec, 'ports')
      .map(({ nodePort }) => count(nodePort))
      .filter((port) => port !== 0),
  );

/** Clients from before dual-stack know clusterIP only. */
export function syncClusterIpsOnCreate(service: ApiObject): void {
  const spec = part(service, 'spec');
  const clusterIp = text(spec.clusterIP);
  if (clusterIp !== '' && strings(spec, 'clusterIPs').length === 0) spec.clusterIPs = [clusterIp];
}

export function syncClusterIpsOnUpdate(service: ApiObject, old: ApiObject): void {
  const spec = part(service, 'spec');
  const before = part(old, 'spec');
  const clusterIp = text(spec.clusterIP);
  const oldList = strings(before, 'clusterIPs');
  if (clusterIp === text(before.clusterIP)) {
    if (strings(spec, 'clusterIPs').length === 0 && oldList.length > 0) spec.clusterIPs = oldList;
    return;
  }
  if (!equal(strings(spec, 'clusterIPs'), oldList)) return;
  if (clusterIp === '') delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIp];
}

export function dropUnusedByType(service: ApiObject, old: ApiObject): void {
  const spec = part(service, 'spec');
  const before = part(old, 'spec');
  if (needsClusterIp(before) && !needsClusterIp(spec)) dropAddresses(spec, before);
  if (usesNodePorts(before) && !usesNodePorts(spec)) dropNodePorts(spec, before);
  const leaves: readonly [field: string, uses: (spec: JsonObject) => boolean][] = [
    ['healthCheckNodePort', needsHealthCheckNodePort],
    ['allocateLoadBalancerNodePorts', isLoadBalancer],
    ['loadBalancerClass', isLoadBalancer],
    ['externalTrafficPolicy', isExternallyAccessible],
  ];
  for (const [field, uses] of leaves) {
    if (uses(before) && !uses(spec) && spec[field] === before[field]) delete spec[field];
  }
  if (!isLoadBalancer(spec)) service.status = { ...part(service, 'status'), loadBalancer: {} };
}

function dropAddresses(spec: JsonObject, before: JsonObject): void {
  const sameList = equal(strings(spec, 'clusterIPs'), strings(before, 'clusterIPs'));
  if (sameList && text(spec.clusterIP) === text(before.clusterIP)) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (equal(strings(spec, 'ipFamilies'), strings(before, 'ipFamilies'))) delete spec.ipFamilies;
  if (text(spec.ipFamilyPolicy) === text(before.ipFamilyPolicy)) delete spec.ipFamilyPolicy;
}

/** Ports may have come, gone and changed, as long as no node port is new. */
function dropNodePorts(spec: JsonObject, before: JsonObject): void {
  const known = nodePortsOf(before);
  if ([...nodePortsOf(spec)].some((port) => !known.has(port))) return;
  for (const port of parts(spec, 'ports')) delete port.nodePort;
}
