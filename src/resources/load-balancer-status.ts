import type { GroupVersionKind } from '../api/names.ts';
import type { ApiObject, JsonObject } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { eachInvalid, invalidValue } from '../object/field-errors.ts';
import { checkName } from '../object/formats.ts';
import { parseIp } from '../object/ip.ts';
import { text } from '../object/parts.ts';
import type { ViewSubresource } from '../registry/definition.ts';
import { writeStatus } from './define.ts';
import { validateIp } from './validation/ip-fields.ts';

/** What services and ingresses have in common: a status that says where a load balancer lets traffic in. */

export interface LoadBalancerStatusOutline {
  readonly served: GroupVersionKind;
  /** IDL name of the object. */
  readonly type: string;
  /** Fills in what the writer of the status left out. Gets a copy it may change. */
  defaults?(object: ApiObject): void;
  validate(object: ApiObject): FieldError[];
}

export function loadBalancerStatusView({
  served,
  type,
  defaults,
  validate,
}: LoadBalancerStatusOutline): ViewSubresource {
  return {
    access: 'view',
    name: 'status',
    served,
    type,
    verbs: ['get', 'patch', 'update'],
    resetFields: [['spec']],
    read: (parent) => parent,
    write: (view, old) => {
      defaults?.(view);
      return writeStatus(view, old);
    },
    validate,
  };
}

export function resetLoadBalancerStatus(object: ApiObject): void {
  object.status = { loadBalancer: {} };
}

export function keepStatus(object: ApiObject, old: ApiObject): void {
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
}

/** Address and host name of one point of ingress. */
export function validateIngressPoint(point: JsonObject, path: string): FieldError[] {
  const ip = text(point.ip);
  const hostname = text(point.hostname);
  const errors = ip === '' ? [] : validateIp(`${path}.ip`, ip);
  if (hostname === '') return errors;
  errors.push(...eachInvalid(`${path}.hostname`, hostname, checkName(hostname, 'dns-subdomain')));
  if (parseIp(hostname) !== undefined) {
    errors.push(invalidValue(`${path}.hostname`, hostname, 'must be a DNS name, not an IP address'));
  }
  return errors;
}

/** Where traffic is let in: each address, or host name where there is none, once. */
export function ingressPointTexts(points: readonly JsonObject[]): string[] {
  const shown = points.map(({ ip, hostname }) => text(ip, text(hostname)));
  return [...new Set(shown.filter((point) => point !== ''))].sort();
}
