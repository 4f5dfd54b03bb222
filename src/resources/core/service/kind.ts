import type { ServiceSpec } from '../../../api/types/core/v1.ts';

/** The kind of a service, read from its spec: the type decides which of the other fields mean anything. */

export const typeOf = ({ type }: ServiceSpec): string => type || 'ClusterIP';

export const isExternalName = (spec: ServiceSpec): boolean => typeOf(spec) === 'ExternalName';

export const isLoadBalancer = (spec: ServiceSpec): boolean => typeOf(spec) === 'LoadBalancer';

/** The service has no address: clients get those of the pods. */
export function isHeadless({ clusterIPs }: ServiceSpec): boolean {
  return clusterIPs !== undefined && clusterIPs.length === 1 && clusterIPs[0] === 'None';
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  const type = typeOf(spec);
  if (type === 'LoadBalancer' || type === 'NodePort') return true;
  return type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0;
}

/** Even `None` counts as an address. */
export const needsClusterIp = (spec: ServiceSpec): boolean => !isExternalName(spec);

/** Types whose ports may have a port on every node, whether assigned by the server or by the user. */
export function usesNodePorts(spec: ServiceSpec): boolean {
  const type = typeOf(spec);
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** Types whose ports get a port on every node when none is given. */
export const needsNodePorts = (spec: ServiceSpec): boolean =>
  typeOf(spec) === 'NodePort' || (isLoadBalancer(spec) && spec.allocateLoadBalancerNodePorts !== false);

/** A load balancer that sends traffic only to nodes with a pod must ask the nodes. */
export const needsHealthCheckNodePort = (spec: ServiceSpec): boolean =>
  isLoadBalancer(spec) && spec.externalTrafficPolicy === 'Local';
