import type { Service, ServiceSpec } from '../../../api/types/core/v1.ts';
import { equal } from '../../../object/equality.ts';
import {
  isExternallyAccessible,
  isLoadBalancer,
  needsClusterIp,
  needsHealthCheckNodePort,
  needsNodePorts,
  usesNodePorts,
} from './kind.ts';

/**
 * Updates of services leave fields out. They are completed in three steps: assigned values stay; clusterIP and clusterIPs
 * follow each other; fields that the new type does not use go, unless the caller changed them too, which is for validation
 * to judge. New values are assigned between the second step and the third (assignment.ts).
 */

/** Keeps assigned values, so that clients can send the original manifest. */
export function keepAssigned({ spec = {} }: Service, old: Service): void {
  const before = old.spec ?? {};
  if (needsClusterIp(before) && needsClusterIp(spec)) keepAddresses(spec, before);
  if (needsNodePorts(before) && needsNodePorts(spec)) keepNodePorts(spec, before);
  if (needsHealthCheckNodePort(before) && needsHealthCheckNodePort(spec)) {
    const port = spec.healthCheckNodePort || before.healthCheckNodePort || 0;
    if (port !== 0) spec.healthCheckNodePort = port;
  }
}

function keepAddresses(spec: ServiceSpec, before: ServiceSpec): void {
  const { clusterIP = '', clusterIPs = [] } = before;
  if ((spec.clusterIP ?? '') === '' && clusterIP !== '') spec.clusterIP = clusterIP;
  if ((spec.clusterIPs ?? []).length === 0 && clusterIPs.length > 0) spec.clusterIPs = [...clusterIPs];
}

/** Matches ports by name; everything else may have changed. */
function keepNodePorts(spec: ServiceSpec, before: ServiceSpec): void {
  const known = nodePortsOf(before);
  const given = nodePortsOf(spec);
  const byName = new Map((before.ports ?? []).map(({ name = '', nodePort = 0 }) => [name, nodePort]));
  for (const port of spec.ports ?? []) {
    const nodePort = byName.get(port.name ?? '') ?? 0;
    const isTaken = known.has(nodePort) && given.has(nodePort);
    if ((port.nodePort ?? 0) === 0 && nodePort !== 0 && !isTaken) port.nodePort = nodePort;
  }
}

function nodePortsOf({ ports = [] }: ServiceSpec): Set<number> {
  const found = new Set(ports.map(({ nodePort = 0 }) => nodePort));
  found.delete(0);
  return found;
}

/** Clients from before dual-stack know clusterIP only. */
export function syncClusterIpsOnCreate({ spec = {} }: Service): void {
  const { clusterIP = '', clusterIPs = [] } = spec;
  if (clusterIP !== '' && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
}

export function syncClusterIpsOnUpdate({ spec = {} }: Service, old: Service): void {
  const { clusterIP = '', clusterIPs = [] } = spec;
  const { clusterIP: oldIp = '', clusterIPs: oldIps = [] } = old.spec ?? {};
  if (clusterIP === oldIp) {
    if (clusterIPs.length === 0 && oldIps.length > 0) spec.clusterIPs = [...oldIps];
    return;
  }
  if (!equal(clusterIPs, oldIps)) return;
  if (clusterIP === '') delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
}

/** Fields that mean something to some types only. */
const FIELDS_OF_TYPES = [
  ['healthCheckNodePort', needsHealthCheckNodePort],
  ['allocateLoadBalancerNodePorts', isLoadBalancer],
  ['loadBalancerClass', isLoadBalancer],
  ['externalTrafficPolicy', isExternallyAccessible],
] as const;

export function dropUnusedByType(service: Service, old: Service): void {
  const { spec = {} } = service;
  const before = old.spec ?? {};
  if (needsClusterIp(before) && !needsClusterIp(spec)) dropAddresses(spec, before);
  if (usesNodePorts(before) && !usesNodePorts(spec)) dropNodePorts(spec, before);
  for (const [field, isUsedBy] of FIELDS_OF_TYPES)
    if (isUsedBy(before) && !isUsedBy(spec) && spec[field] === before[field]) delete spec[field];
  if (!isLoadBalancer(spec)) service.status = { ...service.status, loadBalancer: {} };
}

function dropAddresses(spec: ServiceSpec, before: ServiceSpec): void {
  const isSame = (field: 'clusterIPs' | 'ipFamilies'): boolean =>
    equal(spec[field] ?? [], before[field] ?? []);
  if (isSame('clusterIPs') && (spec.clusterIP ?? '') === (before.clusterIP ?? '')) {
    delete spec.clusterIP;
    delete spec.clusterIPs;
  }
  if (isSame('ipFamilies')) delete spec.ipFamilies;
  if ((spec.ipFamilyPolicy ?? '') === (before.ipFamilyPolicy ?? '')) delete spec.ipFamilyPolicy;
}

/** Ports may have come, gone and changed, as long as no node port is new. */
function dropNodePorts(spec: ServiceSpec, before: ServiceSpec): void {
  const known = nodePortsOf(before);
  if ([...nodePortsOf(spec)].some((port) => !known.has(port))) return;
  for (const port of spec.ports ?? []) delete port.nodePort;
}
