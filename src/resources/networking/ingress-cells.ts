import type { ApiObject } from '../../api/object-meta.ts';
import type { Cell } from '../../registry/definition.ts';
import { age, NONE, part, parts, text } from '../cells.ts';

export function ingressCells(ingress: ApiObject, now: number): readonly Cell[] {
  const spec = part(ingress, 'spec');
  const hosts = parts(spec, 'rules')
    .map(({ host }) => text(host))
    .filter((host) => host !== '');
  const addresses = parts(part(ingress, 'status', 'loadBalancer'), 'ingress').map(({ ip, hostname }) =>
    text(ip, text(hostname)),
  );
  return [
    ingress.metadata.name ?? '',
    text(spec.ingressClassName, NONE),
    text(hosts.join(','), '*'),
    addresses.join(','),
    parts(spec, 'tls').length > 0 ? '80, 443' : '80',
    age(ingress, now),
  ];
}
