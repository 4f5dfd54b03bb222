import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import { goText, goValue, shownJson } from '../../../object/go-value.ts';
import { isIpv6 } from '../../../object/ip.ts';
import { checkPort, checkPortName, checkQualifiedName } from '../../../object/text-formats.ts';
import { knownAddresses, validateIngressPoint } from '../../load-balancer-status.ts';
import { goServicePort } from '../../rules/go-structs.ts';
import { mustBeCidr, mustBeIp, mustNotBeSpecialIp } from '../../rules/ip-rules.ts';
import { mustBeLabels } from '../../rules/labels.ts';
import { mustBeName, mustBeOneOf, UniqueNames } from '../../rules/name-rules.ts';
import {
  isExternallyAccessible,
  isExternalName,
  isHeadless,
  isLoadBalancer,
  needsHealthCheckNodePort,
  typeOf,
} from './kind.ts';

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
  if (type === 'LoadBalancer' && at.minor < 33) mustNotExposeAgents(at.field('ports'), ports);
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

/** The agents of the nodes serve their own API there. Since 1.33, load balancers are trusted to tell the two apart. */
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
  const { found } = at;
  mustBeIp(at, ip);
  if (at.found === found) mustNotBeSpecialIp(at, ip);
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

const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];

/** Validates traffic policies and the health check port. The type restricts the policies' values. */
function validateTraffic(at: FieldPath, spec: ServiceSpec): void {
  const { externalTrafficPolicy: policy = '', trafficDistribution } = spec;
  validateHealthCheck(at.field('healthCheckNodePort'), spec);
  if (policy !== '' && !isExternallyAccessible(spec))
    at.field('externalTrafficPolicy').invalid(policy, 'may only be set for externally-accessible services');
  const prefersSame = at.isOn('PreferSameTrafficDistribution');
  mustBeOneOf(
    at.field('trafficDistribution'),
    trafficDistribution,
    prefersSame ? DISTRIBUTIONS : ['PreferClose'],
  );
}

function validateHealthCheck(at: FieldPath, spec: ServiceSpec): void {
  const { healthCheckNodePort: port = 0 } = spec;
  if (port === 0) return;
  if (needsHealthCheckNodePort(spec)) at.invalidFor(port, checkPort(port));
  else
    at.invalid(port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
}

export function validateStatus(root: FieldPath, { spec = {}, status = {} }: Service, old: Service): void {
  const at = root.field('status').field('loadBalancer').field('ingress');
  const points = status.loadBalancer?.ingress ?? [];
  if (points.length > 0 && !isLoadBalancer(spec)) {
    at.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  const known = knownAddresses(at, old.status?.loadBalancer?.ingress);
  for (const [path, point] of at.each(points)) {
    validateIngressPoint(path, point, known);
    validateIpMode(path.field('ipMode'), point);
  }
}

function validateIpMode(at: FieldPath, { ip = '', ipMode }: LoadBalancerIngress): void {
  if (ipMode === undefined) {
    // Without the feature nothing writes it.
    if (ip !== '' && at.isOn('LoadBalancerIPMode')) at.required('must be specified when `ip` is set');
  } else if (ip === '') at.forbidden('may not be specified when `ip` is not set');
  else mustBeOneOf(at, ipMode, ['Proxy', 'VIP']);
}

const FAMILIES = ['IPv4', 'IPv6'];
const MAX_ADDRESSES = 2;

/**
 * Checks clusterIP, clusterIPs and ipFamilies against each other. Assignment of addresses also calls this before it uses them.
 * `at`: the spec.
 */
export function validateClusterIps(at: FieldPath, spec: ServiceSpec): void {
  const { clusterIP = '', clusterIPs: ips = [] } = spec;
  const path = at.field('clusterIPs');
  validateFirst(path, clusterIP, ips);
  validateFamilies(at.field('ipFamilies'), spec.ipFamilies ?? []);
  const before = at.found;
  validateEach(path, ips);
  const areAddresses = at.found === before;
  // Written once: clients choose how many there are.
  const shown = ips.length > 1 ? goText(goValue(ips), shownJson(ips)) : ips;
  if (ips.length > MAX_ADDRESSES) path.invalid(shown, 'may only hold up to 2 values');
  // Families of addresses that are none would only confuse.
  if (!areAddresses) return;
  if (ips.length > 1 && areOfOneFamily(ips))
    path.invalid(shown, 'may specify no more than one IP for each IP family');
  if (!isHeadless(spec)) mustMatchFamilies(path, ips, spec.ipFamilies ?? []);
}

function areOfOneFamily(ips: readonly string[]): boolean {
  const isFirstIpv6 = isIpv6(ips[0] ?? '');
  return ips.every((ip) => isIpv6(ip) === isFirstIpv6);
}

function validateFirst(at: FieldPath, clusterIp: string, ips: readonly string[]): void {
  if (clusterIp === '') {
    if (ips.length > 0) at.invalid(ips, 'must be empty when `clusterIP` is not specified');
  } else if (ips.length === 0) at.required();
  else if (ips[0] !== clusterIp) at.invalid(ips, 'first value must match `clusterIP`');
}

function validateFamilies(at: FieldPath, families: readonly string[]): void {
  for (const [path, family, index] of at.each(families)) {
    mustBeOneOf(path, family, FAMILIES);
    if (families.indexOf(family) < index) path.duplicate(family);
  }
}

function validateEach(at: FieldPath, ips: readonly string[]): void {
  for (const [path, ip, index] of at.each(ips)) {
    if (index > 0 || ip !== 'None') mustBeIp(path, ip);
    else if (ips.length > 1) at.invalid(ips, "'None' must be the first and only value");
  }
}

function mustMatchFamilies(at: FieldPath, ips: readonly string[], families: readonly string[]): void {
  for (const [path, ip, index] of at.each(ips)) {
    const family = families[index];
    if (family === undefined) break;
    const actual = isIpv6(ip) ? 'IPv6' : 'IPv4';
    if (FAMILIES.includes(family) && family !== actual)
      path.invalid(ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``);
  }
}

function validatePorts(at: FieldPath, spec: ServiceSpec): void {
  const { ports = [] } = spec;
  const names = new UniqueNames();
  for (const [path, port] of at.each(ports)) {
    const { name = '' } = port;
    if (name !== '') {
      mustBeName(path.field('name'), name, 'dns-label');
      names.add(path.field('name'), name);
    } else if (ports.length > 1) path.field('name').required();
    validatePort(path, port);
  }
  if (typeOf(spec) === 'ClusterIP') mustHaveNoNodePorts(at, ports);
  mustBeDistinct(at, ports);
}

function validatePort(at: FieldPath, { port = 0, targetPort = 0, appProtocol }: ServicePort): void {
  at.field('port').invalidFor(port, checkPort(port));
  at.field('targetPort').invalidFor(
    targetPort,
    typeof targetPort === 'string' ? checkPortName(targetPort) : checkPort(targetPort),
  );
  if (appProtocol !== undefined)
    at.field('appProtocol').invalidFor(appProtocol, checkQualifiedName(appProtocol));
}

function mustHaveNoNodePorts(at: FieldPath, ports: readonly ServicePort[]): void {
  for (const [path, { nodePort = 0 }] of at.each(ports))
    if (nodePort !== 0) path.field('nodePort').forbidden("may not be used when `type` is 'ClusterIP'");
}

/** A number may be used once for each protocol. */
function mustBeDistinct(at: FieldPath, ports: readonly ServicePort[]): void {
  const seen = new Set<string>();
  for (const [path, { protocol = '', port = 0, nodePort = 0 }] of at.each(ports)) {
    const nodeKey = `node ${protocol} ${nodePort}`;
    const key = `${protocol} ${port}`;
    if (nodePort !== 0 && seen.has(nodeKey)) path.field('nodePort').duplicate(nodePort);
    if (seen.has(key)) path.duplicate(goServicePort({ protocol, port }));
    seen.add(nodeKey).add(key);
  }
}
