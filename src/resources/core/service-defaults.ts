import type { ApiObject } from '../../api/object-meta.ts';
import { part, parts, text } from '../cells.ts';

/** Defaults of a service that depend on its type. */
export function defaultService(service: ApiObject): void {
  const spec = part(service, 'spec');
  for (const port of parts(spec, 'ports')) {
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port ?? 0;
  }
  const type = text(spec.type, 'ClusterIP');
  if (type === 'ExternalName') return;
  spec.internalTrafficPolicy ??= 'Cluster';
  if (type === 'NodePort' || type === 'LoadBalancer') spec.externalTrafficPolicy ??= 'Cluster';
  if (type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 } };
  }
}
