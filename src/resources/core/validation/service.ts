import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { checkIp, checkName, checkQualifiedName } from '../../../object/formats.ts';
import { count, part, parts, text } from '../../../object/parts.ts';
import { validateLabels } from '../../../registry/validate-metadata.ts';
import { validateCidr, validateIp, validateNonSpecialIp } from '../../validation/ip-fields.ts';
import { strings } from '../../validation/values.ts';
import { isExternalName, isHeadless, isLoadBalancer, typeOf } from '../service-kind.ts';
import { validateClusterIps } from './service-addresses.ts';
import { validateServicePorts } from './service-ports.ts';
import { validateTrafficPolicies } from './service-traffic.ts';

export const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
export const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';

const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
/** The agents of the nodes serve their own API there. */
const AGENT_PORT = 10250;
const MAX_AFFINITY_SECONDS = 86_400;

/** The rules of a service by itself, once addresses and node ports are assigned. */
export function validateService(service: ApiObject): FieldError[] {
  const spec = part(service, 'spec');
  return [
    ...validateTopology(service),
    ...validateType(spec),
    ...validateServicePorts(spec),
    ...validateLabels(labelsOf(spec), 'spec.selector'),
    ...validateAffinity(spec),
    ...(isExternalName(spec) ? [] : validateClusterIps(spec)),
    ...strings(spec, 'externalIPs').flatMap((ip, at) => validateExternalIp(ip, `spec.externalIPs[${at}]`)),
    ...validateSourceRanges(service, spec),
    ...validateLoadBalancer(spec),
    ...validateTrafficPolicies(spec),
  ];
}

const labelsOf = (spec: JsonObject): Record<string, string> =>
  Object.fromEntries(Object.entries(part(spec, 'selector')).map(([key, value]) => [key, text(value)]));

function validateTopology({ metadata: { annotations = {} } }: ApiObject): FieldError[] {
  const mode = annotations[TOPOLOGY_MODE];
  const hints = annotations[TOPOLOGY_HINTS];
  if (mode === undefined || hints === undefined || mode === hints) return [];
  const why = `must match annotations[${TOPOLOGY_HINTS}] when both are specified`;
  return [invalidValue(`metadata.annotations[${TOPOLOGY_MODE}]`, mode, why)];
}

function validateType(spec: JsonObject): FieldError[] {
  const type = typeOf(spec);
  if (type === 'ExternalName') return validateExternalName(spec);
  const errors: FieldError[] = [];
  const headless = isHeadless(spec);
  if (parts(spec, 'ports').length === 0 && !headless) errors.push(required('spec.ports'));
  if (type === 'LoadBalancer') errors.push(...validateAgentPorts(spec));
  if (headless && (type === 'LoadBalancer' || type === 'NodePort')) {
    errors.push(invalidValue('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  }
  return errors;
}

function validateExternalName(spec: JsonObject): FieldError[] {
  const errors = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']
    .filter((field) =>
      Array.isArray(spec[field]) ? strings(spec, field).length > 0 : spec[field] !== undefined,
    )
    .map((field) => forbiddenField(`spec.${field}`, 'may not be set for ExternalName services'));
  // A trailing dot makes a name fully qualified.
  const name = text(spec.externalName).replace(/\.$/, '');
  if (name === '') return [...errors, required('spec.externalName')];
  return [...errors, ...eachInvalid('spec.externalName', name, checkName(name, 'dns-subdomain'))];
}

function validateAgentPorts(spec: JsonObject): FieldError[] {
  const why = `may not expose port ${AGENT_PORT} externally since it is used by kubelet`;
  return parts(spec, 'ports').flatMap(({ port }, at) =>
    port === AGENT_PORT ? [invalidValue(`spec.ports[${at}]`, port, why)] : [],
  );
}

function validateAffinity(spec: JsonObject): FieldError[] {
  if (spec.sessionAffinity !== 'ClientIP') return [];
  const seconds = count(part(spec, 'sessionAffinityConfig', 'clientIP').timeoutSeconds);
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  const why = `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`;
  return [invalidValue('spec.sessionAffinityConfig.clientIP.timeoutSeconds', seconds, why)];
}

const validateExternalIp = (ip: string, path: string): FieldError[] =>
  checkIp(ip).length > 0 ? validateIp(path, ip) : validateNonSpecialIp(path, ip);

/** The annotation is from before the field; values of both may be padded with spaces. */
function validateSourceRanges({ metadata }: ApiObject, spec: JsonObject): FieldError[] {
  const ranges = strings(spec, 'loadBalancerSourceRanges');
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    const errors = ranges.flatMap((range, at) => validateCidr(`${path}[${at}]`, range.trim()));
    return isLoadBalancer(spec) ? errors : [forbiddenField(path, ONLY_LOAD_BALANCER), ...errors];
  }
  const annotation = metadata.annotations?.[SOURCE_RANGES];
  if (annotation === undefined) return [];
  const path = `metadata.annotations[${SOURCE_RANGES}]`;
  const given = annotation.trim() === '' ? [] : annotation.split(',');
  const errors = given.flatMap((range) => validateCidr(path, range.trim()));
  return isLoadBalancer(spec) ? errors : [forbiddenField(path, ONLY_LOAD_BALANCER), ...errors];
}

function validateLoadBalancer(spec: JsonObject): FieldError[] {
  if (!isLoadBalancer(spec)) {
    return ['allocateLoadBalancerNodePorts', 'loadBalancerClass']
      .filter((field) => spec[field] !== undefined)
      .map((field) => forbiddenField(`spec.${field}`, ONLY_LOAD_BALANCER));
  }
  if (spec.loadBalancerClass === undefined) return [];
  const name = text(spec.loadBalancerClass);
  return eachInvalid('spec.loadBalancerClass', name, checkQualifiedName(name));
}
