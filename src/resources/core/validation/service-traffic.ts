import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { eachInvalid, invalidValue, notSupported } from '../../../object/field-errors.ts';
import { checkPort } from '../../../object/formats.ts';
import { count, text } from '../../../object/parts.ts';
import { isExternallyAccessible, needsHealthCheckNodePort } from '../service-kind.ts';

/** Which pods traffic goes to, and how a load balancer finds out. The values of the policies are checked with the type. */
export function validateTrafficPolicies(spec: JsonObject): FieldError[] {
  const errors = validateHealthCheck(spec);
  const policy = text(spec.externalTrafficPolicy);
  if (policy !== '' && !isExternallyAccessible(spec)) {
    const why = 'may only be set for externally-accessible services';
    errors.push(invalidValue('spec.externalTrafficPolicy', policy, why));
  }
  const { trafficDistribution } = spec;
  if (trafficDistribution !== undefined && trafficDistribution !== 'PreferClose') {
    errors.push(notSupported('spec.trafficDistribution', trafficDistribution, ['PreferClose']));
  }
  return errors;
}

function validateHealthCheck(spec: JsonObject): FieldError[] {
  const port = count(spec.healthCheckNodePort);
  if (port === 0) return [];
  if (needsHealthCheckNodePort(spec)) return eachInvalid('spec.healthCheckNodePort', port, checkPort(port));
  const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  return [invalidValue('spec.healthCheckNodePort', port, why)];
}
