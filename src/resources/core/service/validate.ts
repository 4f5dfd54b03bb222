import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { checkIp, checkPort, checkQualifiedName } from '../../../object/formats.ts';
import { validateIngressPoint } from '../../load-balancer-status.ts';
import { mustBeCidr, mustBeIp, mustNotBeSpecialIp } from '../../rules/addresses.ts';
import { mustBeLabels } from '../../rules/labels.ts';
import { mustBeName, mustBeOneOf } from '../../rules/names.ts';
import {
  isExternallyAccessible,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  needsHealthCheckNodePort,
  typeOf,
} from './kind.ts';
import { validateClusterIps } from './validate-addresses.ts';
import { validatePorts } from './validate-ports.ts';

/** The rules of a service by itself, once addresses and node ports are assigned. */
export function validate(root: FieldPath, service: Service): void {
  const { spec = {} } = service;
  const at = root.field('spec');
  validateTopology(root.field('metadata').field('annotations'), service);
  validateType(at, spec);
  validatePorts(at.field('ports'), spec);
  mustBeLabels(at.field('selector'), spec.selector);
  validateAffinity(at.field('sessionAffinityConfig'), spec);
  if (!isExternalName(spec)) validateClusterIps(at, spec);
  for (const [path, ip] of at.field('externalIPs').each(spec.externalIPs)) mustBeExternalIp(path, ip);
  validateSourceRanges(root, service);
  validateLoadBalancer(at, spec);
  validateTraffic(at, spec);
}

export const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
export const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';

function validateTopology(at: FieldPath, { metadata: { annotations } }: Service): void {
  const mode = annotations?.[TOPOLOGY_MODE];
  const hints = annotations?.[TOPOLOGY_HINTS];
  if (mode !== undefined && hints !== undefined && mode !== hints)
    at.item(TOPOLOGY_MODE).invalid(mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`);
}

function validateType(at: FieldPath, spec: ServiceSpec): void {
  const { ports = [] } = spec;
  const type = typeOf(spec);
  if (type === 'ExternalName') {
    validateExternalName(at, spec);
    return;
  }
  if (ports.length === 0 && !isHeadless(spec)) at.field('ports').required();
  if (type === 'LoadBalancer') mustNotExposeAgents(at.field('ports'), ports);
  if (isHeadless(spec) && (type === 'LoadBalancer' || type === 'NodePort'))
    at.field('clusterIPs').item(0).invalid('None', `may not be set to 'None' for ${type} services`);
}

function validateExternalName(at: FieldPath, spec: ServiceSpec): void {
  for (const field of ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const) {
    const value = spec[field];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined;
    if (isGiven) at.field(field).forbidden('may not be set for ExternalName services');
  }
  // A trailing dot makes a name fully qualified.
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') at.field('externalName').required();
  else mustBeName(at.field('externalName'), name, 'dns-subdomain');
}

/** The agents of the nodes serve their own API there. */
const AGENT_PORT = 10250;

function mustNotExposeAgents(at: FieldPath, ports: readonly ServicePort[]): void {
  for (const [path, { port }] of at.each(ports))
    if (port === AGENT_PORT)
      path.invalid(port, `may not expose port ${AGENT_PORT} externally since it is used by kubelet`);
}

const MAX_AFFINITY_SECONDS = 86_400;

function validateAffinity(at: FieldPath, { sessionAffinity, sessionAffinityConfig }: ServiceSpec): void {
  if (sessionAffinity !== 'ClientIP') return;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 0;
  if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS)
    at.field('clientIP')
      .field('timeoutSeconds')
      .invalid(seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`);
}

function mustBeExternalIp(at: FieldPath, ip: string): void {
  if (checkIp(ip).length > 0) mustBeIp(at, ip);
  else mustNotBeSpecialIp(at, ip);
}

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';

/** The annotation is from before the field; values of both may be padded with spaces. */
function validateSourceRanges(root: FieldPath, { metadata, spec = {} }: Service): void {
  const { loadBalancerSourceRanges: ranges = [] } = spec;
  if (ranges.length > 0) {
    const at = root.field('spec').field('LoadBalancerSourceRanges');
    if (!isLoadBalancer(spec)) at.forbidden(ONLY_LOAD_BALANCER);
    for (const [path, range] of at.each(ranges)) mustBeCidr(path, range.trim());
    return;
  }
  const annotation = metadata.annotations?.[SOURCE_RANGES];
  if (annotation === undefined) return;
  const at = root.field('metadata').field('annotations').item(SOURCE_RANGES);
  if (!isLoadBalancer(spec)) at.forbidden(ONLY_LOAD_BALANCER);
  if (annotation.trim() === '') return;
  for (const range of annotation.split(',')) mustBeCidr(at, range.trim());
}

function validateLoadBalancer(at: FieldPath, spec: ServiceSpec): void {
  const { loadBalancerClass: name } = spec;
  if (!isLoadBalancer(spec)) {
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const)
      if (spec[field] !== undefined) at.field(field).forbidden(ONLY_LOAD_BALANCER);
  } else if (name !== undefined) at.field('loadBalancerClass').invalidFor(name, checkQualifiedName(name));
}

/** Which pods traffic goes to, and how a load balancer finds out. The values of the policies are checked with the type. */
function validateTraffic(at: FieldPath, spec: ServiceSpec): void {
  const { externalTrafficPolicy: policy = '', trafficDistribution } = spec;
  validateHealthCheck(at.field('healthCheckNodePort'), spec);
  if (policy !== '' && !isExternallyAccessible(spec))
    at.field('externalTrafficPolicy').invalid(policy, 'may only be set for externally-accessible services');
  mustBeOneOf(at.field('trafficDistribution'), trafficDistribution, ['PreferClose']);
}

function validateHealthCheck(at: FieldPath, spec: ServiceSpec): void {
  const { healthCheckNodePort: port = 0 } = spec;
  if (port === 0) return;
  if (needsHealthCheckNodePort(spec)) at.invalidFor(port, checkPort(port));
  else
    at.invalid(port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
}

export function validateStatus(root: FieldPath, { spec = {}, status = {} }: Service): void {
  const at = root.field('status').field('loadBalancer').field('ingress');
  const points = status.loadBalancer?.ingress ?? [];
  if (points.length > 0 && !isLoadBalancer(spec)) {
    at.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  for (const [path, point] of at.each(points)) {
    validateIngressPoint(path, point);
    validateIpMode(path.field('ipMode'), point);
  }
}

function validateIpMode(at: FieldPath, { ip = '', ipMode }: LoadBalancerIngress): void {
  if (ipMode === undefined) {
    if (ip !== '') at.required('must be specified when `ip` is set');
  } else if (ip === '') at.forbidden('may not be specified when `ip` is not set');
  else mustBeOneOf(at, ipMode, ['Proxy', 'VIP']);
}
