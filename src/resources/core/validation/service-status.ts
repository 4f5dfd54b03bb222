import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, notSupported, required } from '../../../object/field-errors.ts';
import { problemsOf } from '../../../object/field-path.ts';
import { part, parts, text } from '../../../object/parts.ts';
import { validateIngressPoint } from '../../load-balancer-status.ts';
import { isLoadBalancer } from '../service-kind.ts';

export function validateServiceStatus(service: ApiObject): FieldError[] {
  const path = 'status.loadBalancer.ingress';
  const points = parts(part(service, 'status', 'loadBalancer'), 'ingress');
  if (points.length > 0 && !isLoadBalancer(part(service, 'spec'))) {
    return [forbiddenField(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return points.flatMap((point, at) => [
    ...problemsOf((item) => validateIngressPoint(item, point), `${path}[${at}]`),
    ...validateIpMode(point, `${path}[${at}].ipMode`),
  ]);
}

function validateIpMode({ ip, ipMode }: JsonObject, path: string): FieldError[] {
  const hasIp = text(ip) !== '';
  if (ipMode === undefined) return hasIp ? [required(path, 'must be specified when `ip` is set')] : [];
  if (!hasIp) return [forbiddenField(path, 'may not be specified when `ip` is not set')];
  return ipMode === 'VIP' || ipMode === 'Proxy' ? [] : [notSupported(path, ipMode, ['Proxy', 'VIP'])];
}
