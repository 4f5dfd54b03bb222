import type { Service, ServiceSpec } from '../../../api/types/core/v1.ts';
import { isExternallyAccessible, isExternalName, isLoadBalancer } from './kind.ts';

/** Three hours. */
const AFFINITY_TIMEOUT_SECONDS = 10_800;

/** Defaults of a service that depend on its other fields. */
export function setDefaults({ spec = {} }: Service): void {
  for (const port of spec.ports ?? []) port.targetPort ||= port.port ?? 0;
  defaultAffinity(spec);
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (isLoadBalancer(spec)) spec.allocateLoadBalancerNodePorts ??= true;
  if (isExternalName(spec)) delete spec.internalTrafficPolicy;
  else spec.internalTrafficPolicy ??= 'Cluster';
}

function defaultAffinity(spec: ServiceSpec): void {
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== 'ClientIP') return;
  if (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return;
  spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_TIMEOUT_SECONDS } };
}

/** A load balancer's address is one of its own unless its controller says otherwise. */
export function defaultIpModes({ spec = {}, status = {} }: Service): void {
  if (!isLoadBalancer(spec)) return;
  for (const point of status.loadBalancer?.ingress ?? [])
    if (point.ip !== undefined && point.ip !== '') point.ipMode ??= 'VIP';
}
