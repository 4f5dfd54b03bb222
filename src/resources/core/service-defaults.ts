import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import { part, parts } from '../../object/parts.ts';
import { isExternallyAccessible, isExternalName, isLoadBalancer } from './service-kind.ts';

/** Three hours. */
const AFFINITY_TIMEOUT_SECONDS = 10_800;

/** Defaults of a service that depend on its other fields. */
export function defaultService(service: ApiObject): void {
  const spec = part(service, 'spec');
  for (const port of parts(spec, 'ports')) {
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port ?? 0;
  }
  defaultAffinity(spec);
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (isLoadBalancer(spec)) spec.allocateLoadBalancerNodePorts ??= true;
  if (isExternalName(spec)) delete spec.internalTrafficPolicy;
  else spec.internalTrafficPolicy ??= 'Cluster';
}

function defaultAffinity(spec: JsonObject): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== 'ClientIP') return;
  if (part(spec, 'sessionAffinityConfig', 'clientIP').timeoutSeconds !== undefined) return;
  spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_TIMEOUT_SECONDS } };
}

/** A load balancer's address is one of its own unless its controller says otherwise. */
export function defaultIpModes(service: ApiObject): void {
  if (!isLoadBalancer(part(service, 'spec'))) return;
  for (const point of parts(part(service, 'status', 'loadBalancer'), 'ingress')) {
    if (point.ip !== undefined && point.ip !== '') point.ipMode ??= 'VIP';
  }
}
