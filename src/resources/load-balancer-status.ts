import type { Gates } from '../api/feature-gates.ts';
import type { GroupVersionKind } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { FieldError } from '../api/status.ts';
import { FieldPath } from '../object/field-path.ts';
import { parseIp } from '../object/ip.ts';
import { checkName } from '../object/text-formats.ts';
import type { ViewSubresource } from '../registry/resource-definition.ts';
import { writeStatus } from '../registry/status-view.ts';
import { mustBeIp } from './rules/ip-rules.ts';
import { ipWarningsSince33, warningsOfEach } from './rules/ip-warnings.ts';

/** The status that services and ingresses share: the addresses at which a load balancer takes traffic. */

type LoadBalanced = ApiObject & {
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly Point[] } };
};

interface LoadBalancerStatusOutline<T extends LoadBalanced> {
  readonly served: GroupVersionKind;
  /** IDL name of the object. */
  readonly type: string;
  /** Completes a written status. Gets a copy it may change. */
  defaults?(object: T): void;
  validate(object: T, old: T, isOn?: Gates): FieldError[];
}

export function loadBalancerStatusView<T extends LoadBalanced>({
  served,
  type,
  defaults,
  validate,
}: LoadBalancerStatusOutline<T>): ViewSubresource<T> {
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
    warnings: pointWarnings,
  };
}

function pointWarnings({ status }: LoadBalanced, _: LoadBalanced, isOn?: Gates): string[] {
  const at = FieldPath.root([], isOn).field('status').field('loadBalancer').field('ingress');
  const points = at.each(status?.loadBalancer?.ingress);
  return warningsOfEach(points, (path, { ip = '' }) => (ip === '' ? [] : ipWarningsSince33(path, ip)));
}

export function resetLoadBalancerStatus(object: ApiObject): void {
  object.status = { loadBalancer: {} };
}

export function keepStatus(object: ApiObject, old: ApiObject): void {
  if (old.status === undefined) delete object.status;
  else object.status = old.status;
}

interface Point {
  readonly ip?: string;
  readonly hostname?: string;
}

/** The stored addresses, which are not judged again since 1.33. */
export const knownAddresses = (at: FieldPath, before: readonly Point[] = []): ReadonlySet<string> =>
  new Set(at.minor < 33 ? [] : before.flatMap(({ ip }) => ip ?? []));

/** Address and host name of one point of ingress. `known`: of {@link knownAddresses}. */
export function validateIngressPoint(
  at: FieldPath,
  { ip = '', hostname = '' }: Point,
  known: ReadonlySet<string>,
): void {
  if (ip !== '' && !known.has(ip)) mustBeIp(at.field('ip'), ip);
  if (hostname === '') return;
  const path = at.field('hostname');
  path.invalidFor(hostname, checkName(hostname, 'dns-subdomain'));
  if (parseIp(hostname) !== undefined) path.invalid(hostname, 'must be a DNS name, not an IP address');
}

/** The ingress points: each address, or else the host name, once. */
export function ingressPointTexts(points: readonly Point[]): string[] {
  const texts = points.map(({ ip, hostname }) => ip || hostname || '');
  return [...new Set(texts.filter((point) => point !== ''))].sort();
}
