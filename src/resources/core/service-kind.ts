import type { JsonObject } from '../../api/object-meta.ts';
import { text } from '../../object/parts.ts';
import { strings } from '../validation/values.ts';

/** What a service is, read from its spec: type decides which of the other fields mean anything. */

export const typeOf = (spec: JsonObject): string => text(spec.type, 'ClusterIP');

export const isExternalName = (spec: JsonObject): boolean => typeOf(spec) === 'ExternalName';

export const isLoadBalancer = (spec: JsonObject): boolean => typeOf(spec) === 'LoadBalancer';

/** No address of its own: clients get the addresses of the pods. */
export function isHeadless(spec: JsonObject): boolean {
  const [only, ...more] = strings(spec, 'clusterIPs');
  return only === 'None' && more.length === 0;
}

export function isExternallyAccessible(spec: JsonObject): boolean {
  const type = typeOf(spec);
  if (type === 'LoadBalancer' || type === 'NodePort') return true;
  return type === 'ClusterIP' && strings(spec, 'externalIPs').length > 0;
}

/** Even `None` counts as an address. */
export const needsClusterIp = (spec: JsonObject): boolean => !isExternalName(spec);

/** Types whose ports may have a port on every node, whether assigned by the server or by the user. */
export const usesNodePorts = (spec: JsonObject): boolean =>
  ['NodePort', 'LoadBalancer'].includes(typeOf(spec));

/** Types whose ports get a port on every node when none is given. */
export const needsNodePorts = (spec: JsonObject): boolean =>
  typeOf(spec) === 'NodePort' || (isLoadBalancer(spec) && spec.allocateLoadBalancerNodePorts !== false);

/** A load balancer that sends traffic only to nodes with a pod must ask the nodes. */
export const needsHealthCheckNodePort = (spec: JsonObject): boolean =>
  isLoadBalancer(spec) && spec.externalTrafficPolicy === 'Local';
